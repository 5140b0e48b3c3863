#include "userspace/capture/rings/ring_module.h"

#include <cstdint>
#include <optional>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <sys/mman.h>
#include <unistd.h>

namespace sojourn::capture {
namespace {

constexpr std::uint64_t kRingBytes = 65536;
constexpr std::uint64_t kStride = SJ_RING_DATA + kRingBytes + SJ_RING_PAGE;
constexpr std::uint64_t kRingsAt = 3 * SJ_RING_PAGE;
constexpr std::uint64_t kBytes = kRingsAt + kStride;
constexpr std::uint64_t kOwner = std::uint64_t{7} << 32 | 8;

// A target that is this process: one ring, taken by thread 8 of process 7.
class Target {
 public:
  Target() : file_(memfd_create("sojourn-rings", MFD_CLOEXEC)) {
    REQUIRE(ftruncate(file_.get(), kBytes) == 0);
    memory_ = static_cast<std::byte*>(
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0));
    REQUIRE(memory_ != MAP_FAILED);
    sj_arena& header = at<sj_arena>(0);
    header.magic = SJ_ARENA_MAGIC;
    header.version = SJ_ARENA_VERSION;
    header.page_bytes = SJ_RING_PAGE;
    header.flags_offset = SJ_RING_PAGE;
    header.flags_bytes = SJ_RING_PAGE;
    header.slots_offset = 2 * SJ_RING_PAGE;
    header.rings_offset = kRingsAt;
    header.ring_slots = 1;
    header.ring_stride = kStride;
    header.total_bytes = kBytes;
    header.slots_used = 1;
    at<sj_ring_slot>(2 * SJ_RING_PAGE).taken = kOwner;
    ring().owner = kOwner;
    ring().mask = kRingBytes - 1;
    own().alive = 1;
  }
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  ~Target() { munmap(memory_, kBytes); }

  sj_ring& ring() { return at<sj_ring>(kRingsAt); }
  // A hit that has reserved its place, and written its stamp and its id.
  void begin_hit(std::uint64_t stamp, std::uint32_t id) {
    at<sj_ring_record>(kRingsAt + SJ_RING_DATA) = {
        .stamp_low = static_cast<std::uint32_t>(stamp), .stamp_high = 0, .id = id};
    own().reserved = 24;
  }
  // A whole hit without values.
  void hit(std::uint64_t stamp, std::uint32_t id) {
    constexpr std::int64_t kRecordBytes = 16;
    at<sj_ring_record>(kRingsAt + SJ_RING_DATA + static_cast<std::uint64_t>(ring().cursor)) = {
        .stamp_low = static_cast<std::uint32_t>(stamp), .stamp_high = 0, .id = id};
    own().reserved = ring().cursor + kRecordBytes;
    ring().cursor += kRecordBytes;
  }
  sj_ring_private& own() { return at<sj_ring_private>(kRingsAt + SJ_RING_PRIVATE); }

  Arena arena(bool where_is_known) {
    auto arena = Arena::open(base::Fd(dup(file_.get())), "rings",
                             where_is_known ? reinterpret_cast<std::uint64_t>(memory_) : 0);
    REQUIRE(arena);
    return std::move(*arena);
  }

 private:
  template <typename Part>
  Part& at(std::uint64_t offset) {
    return *reinterpret_cast<Part*>(memory_ + offset);
  }

  base::Fd file_;
  std::byte* memory_ = nullptr;
};

struct Session {
  explicit Session(Target& target, bool where_is_known = true)
      : module(target.arena(where_is_known), shared) {
    shared.clock = &clock;
    shared.is_recorded = [](std::uint32_t pid) { return pid == 7; };
    shared.new_stream = [this](std::uint64_t) { return streams++; };
    shared.host_tid = [](std::uint64_t owner) { return static_cast<std::uint32_t>(owner); };
    shared.hand_over = [](model::EventColumns& columns) { columns = {}; };
    shared.is_alive = [this](std::uint64_t) { return lives; };
    shared.host_pid = [](std::uint64_t) { return getpid(); };
    module.enter();
  }

  RingClock clock{{.ticks = 0, .ns = 0, .error_ns = 0}, {.ticks = 1000, .ns = 1000, .error_ns = 0}};
  RingShared shared;
  std::uint32_t streams = 0;
  bool lives = true;
  RingModule module;
};

TEST_CASE("a hit that has begun and is not whole is seen, until the cursor has passed it") {
  Target target;
  Session session(target);
  CHECK(session.module.unfinished(7, getpid())->empty());
  target.own().reserved = 32;
  const auto unfinished = session.module.unfinished(7, getpid());
  REQUIRE(unfinished);
  REQUIRE(unfinished->size() == 1);
  CHECK_FALSE(session.module.is_whole(unfinished->front()));
  target.own().reserved = 96;  // the next ones, also under way
  target.ring().cursor = 32;
  CHECK(session.module.is_whole(unfinished->front()));
}

TEST_CASE("if the target's own memory cannot be read, unfinished hits are not counted") {
  Target target;
  Session session(target, false);
  CHECK_FALSE(session.module.unfinished(7, getpid()).has_value());
}

TEST_CASE("a hit that is not whole at the end is lost with the number that it had") {
  Target target;
  Session session(target);
  session.shared.sites.add(5, 3, {model::Field{}});
  session.shared.gate = {.open = 100, .close = 200};
  target.begin_hit(150, 5);
  session.module.drain(true);
  session.module.close_books();
  session.module.close_books();  // counts once
  model::Ledger ledger;
  session.module.add_losses(ledger);
  const model::LedgerEntry expected{
      .stream = 0, .point = 3, .cause = model::LossCause::kUnderWay, .count = 1};
  CHECK(ledger == model::Ledger{expected});
  std::vector<std::uint64_t> hits;
  session.module.add_hits(hits);
  CHECK(hits == std::vector<std::uint64_t>{1});
}

TEST_CASE("an invalid span of a ring is lost with the number that is left out for it") {
  Target target;
  Session session(target);
  target.begin_hit(150, 12345);  // an id without a point
  target.ring().cursor = 24;
  session.module.drain(true);
  model::Ledger ledger;
  session.module.add_losses(ledger);
  const model::LedgerEntry expected{
      .stream = 0, .point = model::kNoPoint, .cause = model::LossCause::kUnreadable, .count = 1};
  CHECK(ledger == model::Ledger{expected});
  target.ring().cursor = 25;  // as none can be
  session.module.drain(true);
  ledger.clear();
  session.module.add_losses(ledger);
  REQUIRE(ledger.size() == 1);
  CHECK(ledger.front().count == 2);
  std::vector<std::uint64_t> hits;
  session.module.add_hits(hits);
  CHECK(hits == std::vector<std::uint64_t>{2});
}

TEST_CASE("a hit that is not whole at the end and began after the close is no loss") {
  Target target;
  Session session(target);
  session.shared.sites.add(5, 3, {model::Field{}});
  session.shared.gate = {.open = 100, .close = 200};
  target.begin_hit(200, 5);
  session.module.drain(true);
  session.module.close_books();
  model::Ledger ledger;
  session.module.add_losses(ledger);
  CHECK(ledger.empty());
  CHECK(session.streams == 0);
}

TEST_CASE("a thread that died in a hit leaves only the record, and the hit took no number") {
  Target target;
  Session session(target, false);
  session.shared.sites.add(5, 3, {model::Field{}});
  session.shared.gate = {.open = 100, .close = 200};
  target.begin_hit(150, 5);
  session.lives = false;
  session.module.drain(true);
  session.module.close_books();
  model::Ledger ledger;
  session.module.add_losses(ledger);
  const model::LedgerEntry expected{
      .stream = 0, .point = 3, .cause = model::LossCause::kTargetGone, .count = 1};
  CHECK(ledger == model::Ledger{expected});
  std::vector<std::uint64_t> hits;
  session.module.add_hits(hits);
  CHECK((hits.empty() || hits.front() == 0));
}

TEST_CASE("losses of points beyond a ring's table have no point, and earlier ones do not count") {
  Target target;
  target.ring().losses_elsewhere = UINT32_MAX - 1;  // and it wraps
  Session session(target);
  target.ring().loss[0].id = 5;
  target.ring().losses_elsewhere += 5;
  target.ring().lost = 5;
  session.module.drain(true);
  model::Ledger ledger;
  session.module.add_losses(ledger);
  const model::LedgerEntry expected{.stream = 0, .point = model::kNoPoint, .count = 5};
  CHECK(ledger == model::Ledger{expected});
  std::vector<std::uint64_t> hits;
  session.module.add_hits(hits);
  CHECK(hits == std::vector<std::uint64_t>{5});
}

TEST_CASE("losses that go back, as in a file that was cut, are not counted") {
  Target target;
  target.ring().losses_elsewhere = 1000;
  Session session(target);
  target.ring().losses_elsewhere = 0;
  target.ring().lost = 1;
  session.module.drain(true);
  model::Ledger ledger;
  session.module.add_losses(ledger);
  CHECK(ledger.empty());
}

TEST_CASE("a thread that stays on its CPU is corrected by it, and is uncertain around a move") {
  Target target;
  Session session(target);
  // The counter of CPU 1 is 400 ticks ahead of CPU 0's, known to 10.
  const CounterCorrector corrector(
      {.first_cpu = 0,
       .others = {{.cpu = 1, .ns = 400, .error_ns = 10, .ticks = 400, .error_ticks = 10}},
       .why_not = ""});
  CpuLook now{.cpu = 1, .moves = 0, .born = 5};
  std::vector<std::uint64_t> times;
  session.shared.corrector = &corrector;
  session.shared.look_at_cpu = [&](std::uint64_t) { return std::optional(now); };
  session.shared.hand_over = [&](model::EventColumns& columns) {
    times.insert(times.end(), columns.ts_ns.begin(), columns.ts_ns.end());
    columns = {};
  };
  session.shared.sites.add(5, 3, {});
  session.shared.gate = {.open = 100, .close = 2000};
  const auto drained = [&](std::uint64_t stamp) {
    target.hit(stamp, 5);
    session.module.drain(true);
    session.module.flush();
    return times.back();
  };
  // The thread has never moved to another CPU.
  CHECK(drained(550) == 150);
  CHECK(session.module.counters_error_ns() == 10);
  CHECK(session.module.events_of_unknown_cpu() == 0);
  // The thread has moved. The CPU of a stamp is not known until all looks are newer than the move.
  now = {.cpu = 0, .moves = 1, .born = 5};
  CHECK(drained(700) == 495);
  CHECK(drained(800) == 595);
  CHECK(drained(900) == 695);
  CHECK(session.module.counters_error_ns() == 205);
  CHECK(session.module.events_of_unknown_cpu() == 3);
  CHECK(drained(950) == 950);
  CHECK(session.module.events_of_unknown_cpu() == 3);
  // Another thread of that number is not taken for it.
  now = {.cpu = 0, .moves = 1, .born = 6};
  drained(1000);
  CHECK(session.module.events_of_unknown_cpu() == 4);
}

}  // namespace
}  // namespace sojourn::capture
