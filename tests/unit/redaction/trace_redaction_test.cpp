#include "userspace/redaction/trace_redaction.h"

#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/model/links.h"
#include "analysis/model/redacted_mark.h"
#include "analysis/trace/block.h"
#include "analysis/trace/byte_source.h"
#include "analysis/trace/format.h"
#include "analysis/trace/writer.h"
#include "tests/support/child.h"
#include "userspace/files/trace_file.h"

namespace sojourn::redaction {
namespace {

constexpr ValueCipher::Key kKey = {3, 1, 4, 1, 5, 9, 2, 6};
constexpr std::uint64_t kRows = 40;

model::Schema schema() {
  model::Schema schema;
  for (const auto& [where, format] :
       {std::pair{"D ip.in--rlc.tx", "len.imsi:teid.rnti:drb.psn.so"},
        std::pair{"D rlc.tx--phy.out", "len.round:rnti:drb.psn.so"}}) {
    auto point = model::parse_point(where, format);
    REQUIRE(point);
    point->file = "/home/alice/secret-build/gnb";
    schema.points.push_back(*point);
  }
  schema.points.push_back(model::queue_sample_point());
  return schema;
}

// Writes a trace whose metadata has names of all kinds.
void write(trace::Writer& writer) {
  const model::Schema points = schema();
  REQUIRE(writer.write(points));
  model::Target target;
  target.pid = 4242;
  target.name = "gnb77";
  target.exe = "/home/alice/secret-build/gnb";
  target.cmdline = {"gnb", "--plmn=26201", "--site=berlin"};
  target.build_id = "deadbeef0123456789";
  REQUIRE(writer.write(target));
  REQUIRE(writer.write(model::Host{.name = "gnb-berlin-3",
                                   .kernel = "6.1.0-customer-rt",
                                   .machine = "x86_64",
                                   .cpu_model = "A CPU",
                                   .cpus = 2,
                                   .measured = R"({"machine": "gnb-berlin-3"})"}));
  REQUIRE(writer.write(model::Stream{.id = 0, .engine = model::Engine::kBpf, .cpu = 1}));
  REQUIRE(
      writer.write(model::ClockPair{.monotonic_ns = 5, .realtime_ns = 1'700'000'000'123'456'789}));
  using enum model::NameKind;
  REQUIRE(writer.write(model::Context{
      .families = {{.name = "sched", .missing = ""},
                   {.name = "irq", .missing = "open /srv/alice/btf: No such file"}},
      .names = {
          {.kind = kThread, .id = 7, .name = "rlc ue 17921", .pid = 4242, .state = {}},
          {.kind = kThread, .id = 8, .name = "customer-db", .pid = 9, .state = {}},
          {.kind = kIrq, .id = 30, .name = "enp3s0f0", .pid = 0, .state = {}},
          {.kind = kSocket, .id = 1, .name = "udp 10.11.12.13:2152", .pid = 0, .state = {}}}}));
  model::Profile profile;
  profile.frames.push_back(
      {.id = 1,
       .module = "/home/alice/secret-build/gnb",
       .build_id = "deadbeef0123456789",
       .address = 64,
       .is_kernel = false,
       .calls = {{.function = "rlc_tx", .file = "/home/alice/secret-src/rlc.c", .line = 3}}});
  REQUIRE(writer.write(profile));
  model::QueueInfo queue;
  queue.id = 0x1f3;
  queue.name = "rlc.tx ue 17921";
  queue.group = 17921;
  REQUIRE(writer.write(model::QueueChanges{
      {.event = model::QueueEvent::kFound, .ts_ns = 10, .after_ns = 1, .about = queue}}));
  model::EventBatch events;
  for (std::uint64_t row = 0; row < kRows; ++row) {
    const std::uint64_t rnti = 0x4601 + row % 3;
    const std::uint64_t first[] = {100, 262'011'234'567'890, 0xabcd'0000 + row % 3, rnti, 1, row,
                                   0};
    const std::uint64_t second[] = {100, row % 2, rnti, 1, row, 50};
    events.append({.ts_ns = 100 + 10 * row,
                   .seq = 2 * row,
                   .stream = 0,
                   .tid = 7,
                   .point = 0,
                   .values = first});
    events.append({.ts_ns = 105 + 10 * row,
                   .seq = 2 * row + 1,
                   .stream = 0,
                   .tid = 7,
                   .point = 1,
                   .values = second});
  }
  REQUIRE(writer.write(events));
  model::Capture capture;
  capture.tracer = "sojourn";
  capture.open_ns = 50;
  capture.close_ns = 1000;
  REQUIRE(writer.write(capture));
}

class Redacted {
 public:
  Redacted() {
    const std::string path = directory_.path("a.sjt");
    auto writer = files::create_trace(path);
    REQUIRE(writer);
    write(*writer);
    REQUIRE(writer->finish());
    original.emplace(opened(path));
    REQUIRE(write_redacted(*original, kKey, [this](std::span<const std::uint8_t> piece) {
      bytes.insert(bytes.end(), piece.begin(), piece.end());
      return Result<void>();
    }));
    auto reader = trace::Reader::open(std::make_unique<trace::MemorySource>("made", bytes));
    REQUIRE(reader);
    made.emplace(std::move(*reader));
  }

  // The file's contents without compression.
  std::string contents() const {
    std::string all;
    trace::BlockOpener opener;
    std::size_t at = sizeof(trace::FileHeader);
    while (at + sizeof(trace::BlockHeader) <= bytes.size()) {
      trace::BlockHeader header;
      std::memcpy(&header, bytes.data() + at, sizeof(header));
      if (!trace::is_sound(header)) break;
      at += sizeof(header);
      const auto raw = opener.open(header, std::span(bytes).subspan(at, header.payload_bytes));
      REQUIRE(raw);
      all.append(reinterpret_cast<const char*>(raw->data()), raw->size());
      at += header.payload_bytes;
    }
    return all;
  }

  std::vector<std::uint8_t> bytes;
  std::optional<trace::Reader> original;
  std::optional<trace::Reader> made;

 private:
  static trace::Reader opened(const std::string& path) {
    auto reader = files::open_trace(path);
    REQUIRE(reader);
    return std::move(*reader);
  }
  test::TemporaryDirectory directory_;
};

model::EventBatch events_of(trace::Reader& reader) {
  model::EventBatch all;
  REQUIRE(reader.blocks().size() == 1);
  REQUIRE(reader.read(reader.blocks()[0], all));
  return all;
}

TEST_CASE("no name, address or id is left in the bytes") {
  const Redacted trace;
  const std::string text = trace.contents();
  CHECK(text.contains("rlc.tx"));  // a place's name stays
  for (const char* const secret :
       {"alice", "secret", "berlin", "26201", "customer", "deadbeef", "enp3s0f0", "10.11.12.13",
        "2152", "17921", "gnb77", "1700000000123456789", "cmdline\":[\"", "/srv"}) {
    CAPTURE(secret);
    CHECK(!text.contains(secret));
  }
  CHECK(model::is_redacted(trace.made->capture()));
  CHECK(!model::is_redacted(trace.original->capture()));
  CHECK(trace.made->clocks().empty());
  CHECK(trace.made->host().kernel == "6.1.0");
}

TEST_CASE("ids are replaced one to one, and the values by which packets are rebuilt stay") {
  Redacted trace;
  const model::EventBatch was = events_of(*trace.original);
  const model::EventBatch is = events_of(*trace.made);
  REQUIRE(was.size() == 2 * kRows);
  REQUIRE(is.size() == was.size());
  const model::Schema fields = schema();
  std::map<std::uint64_t, std::uint64_t> known;
  std::size_t replaced = 0;
  for (std::size_t row = 0; row < was.size(); ++row) {
    CHECK(is[row].ts_ns == was[row].ts_ns);
    CHECK(is[row].tid == was[row].tid);
    CHECK(is[row].seq == was[row].seq);
    const model::Point& point = fields.points[was[row].point];
    for (std::size_t at = 0; at < point.fields.size(); ++at) {
      const std::string& name = point.fields[at].name;
      const std::uint64_t before = was[row].values[at], after = is[row].values[at];
      CAPTURE(name, before);
      if (name == "len" || name == "psn" || name == "so" || name == "round") {
        CHECK(after == before);
        continue;
      }
      ++replaced;
      CHECK(known.try_emplace(before, after).first->second == after);
    }
  }
  CHECK(replaced == kRows * (4 + 2));
  for (const auto& [before, after] : known) CHECK((before == after) == false);
  // A queue's group is the id of its packets.
  CHECK(trace.made->queue_changes()[0].about.group == known.at(17921));
  CHECK(trace.made->queue_changes()[0].about.name ==
        "rlc.tx ue " + std::to_string(known.at(17921)));
}

TEST_CASE("values that say something about a hit are no ids") {
  auto point = model::parse_point("D a--b", "len.cell:rnti:call-x.slot.harq");
  REQUIRE(point);
  point->fields.push_back({.name = std::string(model::kStackPointerField)});
  const std::vector<bool> hidden = {false, true, true, false, false, true, false};
  CHECK(hidden_fields(*point) == hidden);
  CHECK(hidden_fields(model::queue_sample_point()) == std::vector<bool>(7, false));
  // A script may give any names to its attributes.
  point->direction = model::Direction::kScript;
  point->fields = {{.name = std::string(model::kDurationField)}, {.name = "len"}, {.name = "who"}};
  CHECK(hidden_fields(*point) == std::vector<bool>{false, true, true});
}

TEST_CASE("stack pointers are moved together, so that calls stay within each other") {
  test::TemporaryDirectory directory;
  auto point = model::parse_point("D a--b", "len:rnti");
  REQUIRE(point);
  point->fields.push_back({.name = std::string(model::kStackPointerField)});
  auto writer = files::create_trace(directory.path("a.sjt"));
  REQUIRE(writer);
  REQUIRE(writer->write(model::Schema{.points = {*point}}));
  REQUIRE(writer->write(model::Stream{}));
  model::EventBatch events;
  for (const std::uint64_t stack :
       {std::uint64_t{0x7ffd'1000'2000}, std::uint64_t{0x7ffd'1000'1f00}}) {
    const std::uint64_t values[] = {1, 2, stack};
    events.append({.ts_ns = 10, .seq = events.size(), .values = values});
  }
  REQUIRE(writer->write(events));
  REQUIRE(writer->finish());
  auto reader = files::open_trace(directory.path("a.sjt"));
  REQUIRE(reader);
  std::vector<std::uint8_t> bytes;
  REQUIRE(write_redacted(*reader, kKey, [&](std::span<const std::uint8_t> piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
    return Result<void>();
  }));
  auto made = trace::Reader::open(std::make_unique<trace::MemorySource>("made", bytes));
  REQUIRE(made);
  const model::EventBatch is = events_of(*made);
  CHECK(is[0].values[2] != 0x7ffd'1000'2000);
  CHECK(is[0].values[2] - is[1].values[2] == 0x100);
}

}  // namespace
}  // namespace sojourn::redaction
