// A trace that is written again as a stage makes it, read back.
#include "analysis/trace/staged_copy.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/trace/completeness.h"
#include "tests/unit/trace/support.h"
#include "userspace/files/trace_file.h"

namespace sojourn::trace::test {
namespace {

// Leaves out the events of thread 9, closing up their numbers; doubles the first value of a point
// as a column; and makes an activity by each event that stays.
class Doubling final : public EventStage {
 public:
  explicit Doubling(const model::Schema& schema) : behind_(schema) {
    for (model::Point& point : behind_.points) point.fields.push_back({.name = "twice"});
    behind_.points.push_back({.direction = model::Direction::kScript,
                              .src = "made",
                              .dest = {},
                              .fields = {{.name = "dur_ns"}},
                              .file = {}});
  }
  const model::Schema& schema() const override { return behind_; }
  Result<void> begin(std::span<const model::Stream> /*streams*/) override {
    left_out_ = {};
    return {};
  }
  void know_streams(std::span<const model::Stream> /*streams*/) override {}
  Result<void> pass(model::EventBatch& events) override {
    model::EventBatch behind;
    for (std::size_t row = 0; row < events.size(); ++row) {
      model::EventView event = events[row];
      if (event.tid == 9) {
        ++left_out_.at(event.stream);
        continue;
      }
      std::vector<std::uint64_t> values(event.values.begin(), event.values.end());
      values.push_back(2 * values.front());
      event.values = values;
      event.seq -= left_out_.at(event.stream);
      behind.append(event);
      const std::array took = {event.ts_ns % 10};
      event.point = static_cast<model::PointId>(behind_.points.size() - 1);
      event.values = took;
      behind.append(event);
    }
    events = std::move(behind);
    return {};
  }

 private:
  model::Schema behind_;
  std::array<std::uint64_t, 8> left_out_{};
};

model::Schema one_point() {
  return {{{.src = "a", .dest = "b", .fields = {{.name = "len"}}, .file = {}}}};
}

// Two streams; of the first one the numbers 2 and 5 are lost, the latter behind its last event.
void write_lossy(const std::string& path) {
  auto writer = files::create_trace(path);
  REQUIRE(writer);
  REQUIRE(writer->write(one_point()));
  REQUIRE(writer->write(
      model::Target{.pid = 42, .name = "made", .exe = {}, .cmdline = {}, .build_id = {}}));
  for (const std::uint32_t id : {0U, 1U})
    REQUIRE(writer->write(model::Stream{.id = id, .engine = model::Engine::kRing}));
  const Events first = {{1010, 0, 0, 7, 0, {100}},
                        {1020, 1, 0, 9, 0, {200}},
                        {1040, 3, 0, 7, 0, {300}},
                        {1050, 4, 0, 9, 0, {400}}};
  const Events second = {{1015, 0, 1, 8, 0, {500}}, {1045, 1, 1, 8, 0, {600}}};
  REQUIRE(writer->write(to_batch(first)));
  REQUIRE(writer->write(to_batch(second)));
  REQUIRE(writer->write(model::Ledger{{.stream = 0, .point = 0, .cause = {}, .count = 2}}));
  model::Capture capture;
  capture.open_ns = 1000;
  capture.close_ns = 1100;
  capture.stream_hits = {6, 2};
  REQUIRE(writer->write(capture));
  REQUIRE(writer->finish());
}

Bytes copied(Reader& reader, const std::string& name) {
  Bytes bytes;
  const auto written = write_staged(reader, name, [&](std::span<const std::uint8_t> more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
    return Result<void>();
  });
  INFO(error_of(written));
  REQUIRE(written);
  return bytes;
}

TEST_CASE("a trace that a stage makes is read back as the stage has it") {
  const TemporaryDirectory directory;
  const std::string path = directory.path("lossy.sjt");
  write_lossy(path);
  auto reader = files::open_trace(path);
  REQUIRE(reader);
  const Completeness before = completeness_of(*reader);
  REQUIRE(before.missing == 2);
  REQUIRE(before.unaccounted == 0);
  reader->set_stage(std::make_shared<Doubling>(reader->schema()));
  const Bytes bytes = copied(*reader, "double.lua");
  auto made = Reader::open(std::make_unique<MemorySource>("made.sjt", bytes));
  REQUIRE(made);
  CHECK(made->schema() == reader->schema());
  CHECK(made->target().name == "made");
  CHECK(made->capture().script == "double.lua");
  CHECK(made->damage().empty());
  CHECK(made->had_index());

  SECTION("events have their columns and numbers, activities a stream of their own") {
    CHECK(merged(*made) == Events{{1010, 0, 0, 7, 0, {100, 200}},
                                  {1010, 0, 2, 7, 1, {0}},
                                  {1015, 0, 1, 8, 0, {500, 1000}},
                                  {1015, 1, 2, 8, 1, {5}},
                                  {1040, 2, 0, 7, 0, {300, 600}},
                                  {1040, 2, 2, 7, 1, {0}},
                                  {1045, 1, 1, 8, 0, {600, 1200}},
                                  {1045, 3, 2, 8, 1, {5}}});
    REQUIRE(made->streams().size() == 3);
    CHECK(made->streams()[2].engine == model::Engine::kScript);
    CHECK_FALSE(model::carries_points(made->streams()[2].engine));
  }
  SECTION("what was lost is still lost, and what was left out is not") {
    const Completeness after = completeness_of(*made);
    CHECK(after.lost == before.lost);
    CHECK(after.missing == before.missing);
    CHECK(after.unaccounted == 0);
    CHECK(made->capture().stream_hits == std::vector<std::uint64_t>{4, 2});
  }
  SECTION("such a trace goes through another stage") {
    made->set_stage(std::make_shared<Doubling>(reader->schema()));
    const Bytes twice = copied(*made, "again.lua");
    auto again = Reader::open(std::make_unique<MemorySource>("again.sjt", twice));
    REQUIRE(again);
    CHECK(again->capture().script == "double.lua, again.lua");
    CHECK(again->streams().size() == 3);  // activities stay in one stream
    CHECK(completeness_of(*again).unaccounted == 0);
  }
}

TEST_CASE("links of a trace that a script has made are ids, and stay as they are") {
  model::Schema schema = one_point();
  schema.points[0].fields = {{.name = "call-x", .role = model::Role::kLocal}};
  const TemporaryDirectory directory;
  for (const std::string script : {"", "some.lua"}) {
    const std::string path = directory.path("links.sjt");
    auto writer = files::create_trace(path);
    REQUIRE(writer);
    REQUIRE(writer->write(schema));
    REQUIRE(writer->write(to_batch(Events{{1010, 0, 0, 7, 0, {1}}, {1020, 1, 0, 7, 0, {1}}})));
    model::Capture capture;
    capture.script = script;
    REQUIRE(writer->write(capture));
    REQUIRE(writer->finish());
    auto reader = files::open_trace(path);
    REQUIRE(reader);
    const Events events = merged(*reader);
    REQUIRE(events.size() == 2);
    CHECK((events[0].values == events[1].values) == !script.empty());
  }
}

}  // namespace
}  // namespace sojourn::trace::test
