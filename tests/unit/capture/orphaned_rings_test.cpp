// Rings of ended targets: arenas that are made here, byte by byte, as ring files and as core files.
#include "userspace/capture/post_mortem/orphaned_rings.h"

#include <cstring>
#include <random>
#include <utility>

#include <catch2/catch_test_macros.hpp>
#include <elf.h>

#include "analysis/trace/reader.h"
#include "tests/support/child.h"
#include "userspace/capture/post_mortem/orphaned_arenas.h"
#include "userspace/files/trace_file.h"

namespace sojourn::capture {
namespace {

constexpr std::uint64_t kCapacity = 65536;
constexpr std::uint64_t kStride = SJ_RING_DATA + kCapacity + SJ_RING_PAGE;
constexpr std::uint64_t kSlotsAt = 2 * SJ_RING_PAGE;
constexpr std::uint64_t kRingsAt = 3 * SJ_RING_PAGE;
constexpr std::uint64_t kRings = 2;
// A pid beyond all possible ones, so that no such process is found running.
constexpr std::uint32_t kPid = 0x3fffffff;
constexpr std::uint32_t kSite = 0x1234;
constexpr std::int64_t kRecord = 24;  // header and eight bytes

// A target's memory, which its threads 1 and 2 have written.
class Target {
 public:
  explicit Target(std::uint32_t mode = SJ_RING_STOP) : bytes_(kRingsAt + kRings * kStride, '\0') {
    sj_arena& header = at<sj_arena>(0);
    header.magic = SJ_ARENA_MAGIC;
    header.version = SJ_ARENA_VERSION;
    header.page_bytes = SJ_RING_PAGE;
    header.total_bytes = bytes_.size();
    header.flags_offset = SJ_RING_PAGE;
    header.flags_bytes = SJ_RING_PAGE;
    header.slots_offset = kSlotsAt;
    header.rings_offset = kRingsAt;
    header.ring_slots = kRings;
    header.ring_stride = kStride;
    header.slots_used = kRings;
    header.pid = static_cast<std::int32_t>(kPid);
    header.control.session = 1;
    for (std::uint64_t slot = 0; slot < kRings; ++slot) {
      at<sj_ring_slot>(kSlotsAt + slot * sizeof(sj_ring_slot)).taken = owner(slot);
      ring(slot).owner = owner(slot);
      ring(slot).mask = kCapacity - 1;
      ring(slot).mode = mode;
      ring(slot).limit = mode == SJ_RING_STOP ? kCapacity : kCapacity / SJ_RING_CHUNKS;
      std::strcpy(ring(slot).thread_name, "worker");
      own(slot).alive = 1;
    }
  }

  static std::uint64_t owner(std::uint64_t slot) { return std::uint64_t{kPid} << 32 | (slot + 1); }
  sj_arena& arena() { return at<sj_arena>(0); }
  sj_ring& ring(std::uint64_t slot) { return at<sj_ring>(kRingsAt + slot * kStride); }
  sj_ring_private& own(std::uint64_t slot) {
    return at<sj_ring_private>(kRingsAt + slot * kStride + SJ_RING_PRIVATE);
  }

  // Writes a record as a hit does, with the next stamp.
  void hit(std::uint64_t slot, std::uint64_t number) {
    sj_ring& one = ring(slot);
    if (one.mode == SJ_RING_FLIGHT && one.cursor + kRecord > one.limit) {
      const auto chunk = static_cast<std::int64_t>(kCapacity / SJ_RING_CHUNKS);
      const std::int64_t last = (one.cursor + kRecord - 1) / chunk;
      one.chunk[last % SJ_RING_CHUNKS] = one.cursor;
      one.limit = (last + 1) * chunk;
    }
    REQUIRE(one.cursor + kRecord <= one.limit);
    const std::uint64_t place = kRingsAt + slot * kStride + SJ_RING_DATA +
                                (static_cast<std::uint64_t>(one.cursor) & one.mask);
    sj_ring_record record{
        .stamp_low = static_cast<std::uint32_t>(++stamp_), .stamp_high = 0, .id = kSite};
    std::memcpy(bytes_.data() + place, &record, sizeof record);
    std::memcpy(bytes_.data() + place + SJ_RECORD_HEADER_BYTES, &number, sizeof number);
    one.cursor += kRecord;
    own(slot).reserved = one.cursor;
  }
  void lose(std::uint64_t slot, std::uint64_t count) {
    sj_ring& one = ring(slot);
    one.gap[one.gaps_begun++ % SJ_RING_GAPS] = {.position = one.cursor, .count = count};
    one.loss[0] = {.id = kSite, .pad = 0, .count = one.loss[0].count + count};
    one.lost += count;
  }
  std::uint64_t stamp() const { return stamp_; }

  std::string& bytes() { return bytes_; }

  // A core file as the kernel writes it: the used memory, in two segments, at an address.
  std::string core() const {
    constexpr std::uint64_t kAddress = 0x7f0000000000;
    Elf64_Ehdr head{};
    std::memcpy(static_cast<void*>(head.e_ident), ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_ident[EI_DATA] = ELFDATA2LSB;
    head.e_type = ET_CORE;
#ifdef __x86_64__
    head.e_machine = EM_X86_64;
#else
    head.e_machine = EM_AARCH64;
#endif
    head.e_phoff = sizeof head;
    head.e_phentsize = sizeof(Elf64_Phdr);
    head.e_phnum = 2;
    std::string core(reinterpret_cast<const char*>(&head), sizeof head);
    std::uint64_t at = sizeof head + 2 * sizeof(Elf64_Phdr);
    const std::uint64_t split = kRingsAt + kStride;
    for (const auto& [begin, end] : {std::pair{std::uint64_t{0}, split}, {split, bytes_.size()}}) {
      const Elf64_Phdr segment{.p_type = PT_LOAD,
                               .p_flags = PF_R,
                               .p_offset = at,
                               .p_vaddr = kAddress + begin,
                               .p_paddr = 0,
                               .p_filesz = end - begin,
                               .p_memsz = end - begin,
                               .p_align = 1};
      core.append(reinterpret_cast<const char*>(&segment), sizeof segment);
      at += end - begin;
    }
    return core + bytes_;
  }

 private:
  template <typename Part>
  Part& at(std::uint64_t offset) {
    return *reinterpret_cast<Part*>(bytes_.data() + offset);
  }

  std::string bytes_;
  std::uint64_t stamp_ = 1000;
};

// Reads a file as `record --post-mortem` does, without looking up ids.
struct Found {
  OrphanedCounts counts;
  model::Ledger ledger;
  std::vector<std::uint64_t> stream_hits;
  std::uint64_t complete_from_ns = 0;
  std::vector<std::uint64_t> numbers;  // of thread 1's events
  std::uint64_t of_nobody = 0;
};

class Post {
 public:
  Result<Found> read(const std::string& file, OrphanedView view = {}) {
    test::write_contents(directory_.path("left"), file);
    SJ_TRY(left, open_orphaned_process(directory_.path("left"), static_cast<pid_t>(kPid)));
    SJ_TRY(writer, files::create_trace(directory_.path("run.sjt")));
    model::Schema schema;
    SJ_TRY(point, model::parse_point("D a--b", "::number"));
    schema.points = {point};
    schema.points[0].fields[0].bytes = 8;
    RingSites sites;
    sites.add(kSite, 0, schema.points[0].fields);
    SJ_CHECK(writer.write(schema));
    const RingClock clock({.ticks = 0, .ns = 0, .error_ns = 0},
                          {.ticks = 1'000'000, .ns = 1'000'000, .error_ns = 0});
    OrphanedRings rings(left.pid, clock, writer, std::move(view));
    for (const OrphanedArena& arena : left.arenas) SJ_CHECK(rings.read(arena, sites));
    SJ_CHECK(writer.finish());
    Found found{.counts = rings.counts(),
                .ledger = rings.ledger(),
                .stream_hits = rings.stream_hits(),
                .complete_from_ns = rings.complete_from_ns(),
                .numbers = {}};
    SJ_TRY(reader, files::open_trace(directory_.path("run.sjt")));
    SJ_CHECK(reader.merge([&](const model::EventBatch& batch) {
      for (std::size_t row = 0; row < batch.size(); ++row) {
        if (batch[row].tid == 1) found.numbers.push_back(batch[row].values[0]);
        if (batch[row].tid == 0) ++found.of_nobody;
      }
      return true;
    }));
    return found;
  }

 private:
  test::TemporaryDirectory directory_;
};

Found read(const std::string& file, OrphanedView view = {}) {
  auto found = Post().read(file, std::move(view));
  if (!found) FAIL(found.error().text());
  return std::move(*found);
}

std::string error_of(const std::string& file) {
  const auto found = Post().read(file);
  return found ? "" : found.error().text();
}

TEST_CASE("a ring file and a core file give the same events") {
  Target target;
  for (std::uint64_t number = 0; number < 1000; ++number) target.hit(number % 2, number);
  for (const std::string& file : {target.bytes(), target.core()}) {
    const Found found = read(file);
    CHECK(found.counts.events == 1000);
    CHECK(found.counts.rings == 2);
    CHECK(found.numbers.size() == 500);
    CHECK(found.numbers.back() == 998);
    CHECK(found.ledger.empty());
    CHECK(found.stream_hits == std::vector<std::uint64_t>{500, 500});
    CHECK(found.complete_from_ns == 0);
  }
}

TEST_CASE(
    "a flight recorder gives its newest events, and the instant from which on it is complete") {
  Target target(SJ_RING_FLIGHT);
  for (std::uint64_t number = 0; number < 100; ++number) target.hit(0, number);
  const Found young = read(target.bytes());
  CHECK(young.numbers.size() == 100);
  CHECK(young.complete_from_ns == 0);
  CHECK(young.counts.flight_rings == 1);
  for (std::uint64_t number = 100; number < 50'000; ++number) target.hit(0, number);
  const Found old = read(target.core());
  CHECK(old.numbers.back() == 49'999);
  CHECK(old.numbers.size() > kCapacity / kRecord * 8 / 10);
  for (std::size_t row = 1; row < old.numbers.size(); ++row)
    REQUIRE(old.numbers[row] == old.numbers[row - 1] + 1);
  CHECK(old.complete_from_ns == 1001 + old.numbers.front());
}

TEST_CASE("the events of a dead thread in a flight recorder are not its successor's") {
  Target target(SJ_RING_FLIGHT);
  for (std::uint64_t number = 0; number < 10; ++number) target.hit(0, 77);
  target.ring(0).claimed_stamp = target.stamp() + 1;
  for (std::uint64_t number = 0; number < 5; ++number) target.hit(0, number);
  const Found found = read(target.bytes());
  CHECK(found.numbers == std::vector<std::uint64_t>{0, 1, 2, 3, 4});
  CHECK(found.of_nobody == 10);
}

TEST_CASE("losses are reported point by point, and a hit under way if a core shows it") {
  Target target;
  target.hit(0, 1);
  target.lose(0, 3);
  target.hit(0, 2);
  target.lose(0, 4);
  target.own(0).reserved += kRecord;
  const model::LedgerEntry full{.stream = 0, .point = 0, .count = 7};
  const model::LedgerEntry torn{
      .stream = 0, .point = model::kNoPoint, .cause = model::LossCause::kTargetGone, .count = 1};
  const Found in_file = read(target.bytes());
  CHECK(in_file.ledger == model::Ledger{full});
  CHECK(in_file.stream_hits == std::vector<std::uint64_t>{9});
  CHECK_FALSE(in_file.counts.knows_unfinished);
  const Found in_core = read(target.core());
  CHECK(in_core.ledger == model::Ledger{full, torn});
  CHECK(in_core.counts.unfinished == 1);
  CHECK(in_core.counts.knows_unfinished);
  const model::LedgerEntry of_point{
      .stream = 0, .point = 0, .cause = model::LossCause::kTargetGone, .count = 1};
  const Found in_code = read(target.core(), {.instruction = [](std::uint32_t) { return kSite; }});
  CHECK(in_code.ledger == model::Ledger{full, of_point});
}

TEST_CASE("in an invalid ring at least one hit is lost, and the ledger has it") {
  Target target;
  target.hit(0, 1);
  const std::uint64_t at =
      kRingsAt + SJ_RING_DATA + static_cast<std::uint64_t>(target.ring(0).cursor);
  target.hit(0, 2);
  target.hit(0, 3);
  std::memset(target.bytes().data() + at, 0xee, SJ_RECORD_HEADER_BYTES);
  const Found found = read(target.bytes());
  CHECK(found.numbers == std::vector<std::uint64_t>{1});
  const model::LedgerEntry unreadable{
      .stream = 0, .point = model::kNoPoint, .cause = model::LossCause::kUnreadable, .count = 1};
  CHECK(found.ledger == model::Ledger{unreadable});
  CHECK(found.stream_hits == std::vector<std::uint64_t>{2});
}

TEST_CASE("counts that no program can have are damage, and no losses") {
  Target target;
  target.hit(0, 1);
  target.lose(0, UINT64_MAX / 2);
  target.hit(0, 2);
  const Found found = read(target.bytes());
  CHECK(found.numbers == std::vector<std::uint64_t>{1, 2});
  CHECK(found.ledger.empty());
  CHECK(found.stream_hits == std::vector<std::uint64_t>{2});
  CHECK(found.counts.damaged == 2);  // the gap, and the point's count
}

TEST_CASE("a hit that its thread died in is counted for its point if the record has its id") {
  Target target;
  target.hit(0, 1);
  target.hit(0, 2);
  target.ring(0).cursor -= kRecord;  // the second is not shown
  const model::LedgerEntry torn{
      .stream = 0, .point = 0, .cause = model::LossCause::kTargetGone, .count = 1};
  for (const std::string& file : {target.bytes(), target.core()}) {
    const Found found = read(file);
    CHECK(found.numbers == std::vector<std::uint64_t>{1});
    CHECK(found.ledger == model::Ledger{torn});
    CHECK(found.stream_hits == std::vector<std::uint64_t>{1});
  }
}

TEST_CASE("in a process that goes on, a hit under way counts if it began before the look") {
  Target target;
  target.hit(0, 1);
  target.hit(0, 2);
  target.ring(0).cursor -= kRecord;
  const model::LedgerEntry torn{
      .stream = 0, .point = 0, .cause = model::LossCause::kUnderWay, .count = 1};
  const Found before = read(target.core(), {.until_stamp = target.stamp() + 1, .host_tid = {}});
  CHECK(before.ledger == model::Ledger{torn});
  CHECK(before.stream_hits == std::vector<std::uint64_t>{2});
  const Found after = read(target.core(), {.until_stamp = target.stamp(), .host_tid = {}});
  CHECK(after.ledger.empty());
  CHECK(after.stream_hits == std::vector<std::uint64_t>{1});
  // The hit has no stamp yet; it began later than the one before.
  std::memset(target.bytes().data() + kRingsAt + SJ_RING_DATA + target.ring(0).cursor, 0,
              SJ_RECORD_HEADER_BYTES);
  const Found unknown = read(target.core(), {.until_stamp = target.stamp(), .host_tid = {}});
  CHECK(unknown.ledger.size() == 1);
  const Found later = read(target.core(), {.until_stamp = target.stamp() - 1, .host_tid = {}});
  CHECK(later.ledger.empty());
}

TEST_CASE(
    "a hit under way in a ring that was written anew is later than the look, and not counted") {
  Target target(SJ_RING_FLIGHT);
  for (std::uint64_t number = 0; number < 10'000; ++number) target.hit(0, number);
  sj_ring& ring = target.ring(0);
  std::ranges::fill(ring.chunk, ring.cursor);  // no earlier record is left
  const std::uint64_t place = static_cast<std::uint64_t>(ring.cursor) & ring.mask;
  std::memset(target.bytes().data() + kRingsAt + SJ_RING_DATA + place, 0, SJ_RECORD_HEADER_BYTES);
  target.own(0).reserved = ring.cursor + kRecord;  // it has not said yet when it began
  const Found crashed = read(target.core());
  CHECK(crashed.ledger.size() == 1);
  const Found goes_on = read(target.core(), {.until_stamp = 5, .host_tid = {}});
  CHECK(goes_on.numbers.empty());
  CHECK(goes_on.ledger.empty());
}

TEST_CASE("losses of a flight recorder from before the events that it still holds do not count") {
  Target target(SJ_RING_FLIGHT);
  target.hit(0, 0);
  target.lose(0, 5);
  for (std::uint64_t number = 1; number < 10'000; ++number) target.hit(0, number);
  target.lose(0, 2);
  target.hit(0, 10'000);
  const Found found = read(target.bytes());
  CHECK(found.numbers.front() > 0);
  CHECK(found.ledger == model::Ledger{{.stream = 0, .point = model::kNoPoint, .count = 2}});
  CHECK(found.stream_hits == std::vector<std::uint64_t>{found.numbers.size() + 2});
  CHECK(found.counts.overwritten_bytes == found.numbers.front() * kRecord);
}

TEST_CASE("from a process that goes on, only hits from before the look at it are read") {
  Target target(SJ_RING_FLIGHT);
  for (std::uint64_t number = 0; number < 10; ++number) target.hit(0, number);
  const std::uint64_t until = target.stamp() + 1;
  for (std::uint64_t number = 10; number < 20; ++number) target.hit(0, number);
  target.hit(1, 7);  // only later than that
  const Found found = read(target.bytes(), {.until_stamp = until, .host_tid = {}});
  CHECK(found.numbers.size() == 10);
  CHECK(found.numbers.back() == 9);
  CHECK(found.counts.events == 10);
  CHECK(found.complete_from_ns == 0);
}

TEST_CASE("behind a collector only the events that it had not read are read, and later losses") {
  Target target;
  target.arena().control.session = 3;
  for (std::uint64_t number = 0; number < 10; ++number) target.hit(0, number);
  target.ring(0).gap[0] = {.position = kRecord, .count = 5};
  target.ring(0).gap[1] = {.position = 7 * kRecord, .count = 2};
  target.ring(0).gaps_begun = 2;
  target.ring(0).lost = 7;
  target.ring(0).limit = kCapacity + 6 * kRecord;
  const Found found = read(target.bytes());
  CHECK(found.numbers == std::vector<std::uint64_t>{6, 7, 8, 9});
  const model::LedgerEntry since{.stream = 0, .point = model::kNoPoint, .count = 2};
  CHECK(found.ledger == model::Ledger{since});
  CHECK(found.stream_hits == std::vector<std::uint64_t>{6});
  CHECK(found.counts.taken_by_collectors == 1);
}

TEST_CASE("rings of forked children are counted, and read under their own pid") {
  Target target;
  target.hit(0, 1);
  target.hit(1, 2);
  target.ring(1).owner = std::uint64_t{kPid - 1} << 32 | 2;
  const Found found = read(target.bytes());
  CHECK(found.counts.events == 1);
  CHECK(found.counts.foreign_rings == 1);
}

TEST_CASE("a cut ring file is one line, and a cut core file gives the rings that are whole") {
  Target target;
  for (std::uint64_t number = 0; number < 1000; ++number) target.hit(number % 2, number);
  for (std::size_t length = 0; length < target.bytes().size(); length += 4099) {
    CAPTURE(length);
    const std::string error = error_of(target.bytes().substr(0, length));
    CHECK(!error.empty());
    CHECK(error.find('\n') == std::string::npos);
  }
  const std::string core = target.core();
  std::uint64_t halves = 0;
  for (std::size_t length = 0; length < core.size(); length += 4099) {
    CAPTURE(length);
    const auto found = Post().read(core.substr(0, length));
    if (!found) continue;
    CHECK(found->counts.events % 500 == 0);
    CHECK(found->counts.events + found->counts.absent_rings * 500 == 1000);
    halves += found->counts.events == 500 ? 1 : 0;
  }
  CHECK(halves > 5);
}

TEST_CASE("rings of any bytes are refused or read, and never crash") {
  std::mt19937_64 random(20261122);
  Target sound(SJ_RING_FLIGHT);
  for (std::uint64_t number = 0; number < 6000; ++number) sound.hit(number % 2, number);
  for (int round = 0; round < 100; ++round) {
    CAPTURE(round);
    Target target = sound;
    const auto is_core = round % 2 == 0;
    for (int change = 0; change < 6; ++change) {
      // Mostly where words are that decide something.
      const std::uint64_t places[] = {0, kSlotsAt, kRingsAt, kRingsAt + kStride};
      const std::uint64_t at = places[random() % 4] + random() % 1500;
      target.bytes()[at] = static_cast<char>(random());
    }
    std::string file = is_core ? target.core() : target.bytes();
    if (is_core) file[random() % 200] = static_cast<char>(random());
    const auto found = Post().read(file);
    if (found) CHECK(found->counts.events <= 2 * kCapacity / SJ_RECORD_ALIGN);
  }
}

}  // namespace
}  // namespace sojourn::capture
