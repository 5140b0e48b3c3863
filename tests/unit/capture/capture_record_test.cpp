// The record of a capture in its trace, and how often it is written while the capture runs.
#include "userspace/capture/session/capture_record.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::capture {
namespace {

using std::chrono::seconds;

constexpr std::uint64_t kOpenNs = 1'000;
constexpr std::uint64_t kLongAgoNs = 1;

CaptureRecord open_record(bool dumps_have_all = false) {
  CaptureRecord record("tracer", dumps_have_all);
  record.open(kOpenNs, {});
  return record;
}

// Counts how often the record is written.
class CountingStore final : public ItemStore {
 public:
  explicit CountingStore(std::shared_ptr<std::atomic<int>> written)
      : written_(std::move(written)) {}
  Result<void> take(const Item& item) override {
    if (std::holds_alternative<model::Capture>(item)) ++*written_;
    return {};
  }
  Result<void> take_block(std::span<const std::uint8_t>) override { return fail("a block"); }
  Result<void> finish() override { return {}; }
  void abandon() override {}
  std::uint64_t bytes() const override { return 0; }

 private:
  std::shared_ptr<std::atomic<int>> written_;
};

// Calls `write` with each number of spans up to `most`, and counts how often the record was
// written.
template <typename Add, typename Write>
int times_written(CaptureRecord& record, int most, const Add& add, const Write& write) {
  const auto written = std::make_shared<std::atomic<int>>(0);
  Sink sink(std::make_unique<CountingStore>(written));
  for (int spans = 1; spans <= most; ++spans) {
    add(record);
    write(record, sink);
  }
  REQUIRE(sink.finish());
  return *written;
}

TEST_CASE("a capture is open once it has an open mark, and ends by its duration, if it has one") {
  CaptureRecord record("tracer", false);
  CHECK_FALSE(record.is_open());
  record.open(kOpenNs, {});
  CHECK(record.is_open());
  CHECK(record.end_ns() == UINT64_MAX);

  const std::uint64_t far_ahead = UINT64_MAX / 2;
  CaptureRecord limited("tracer", false);
  limited.open(far_ahead, seconds(2));
  CHECK(limited.end_ns() == far_ahead + 2'000'000'000);
  // Rings had recorded before the capture: the time that it was asked for begins now.
  CaptureRecord late("tracer", false);
  late.open(kLongAgoNs, seconds(2));
  CHECK(late.end_ns() > kLongAgoNs + 2'000'000'000);
}

TEST_CASE("points that were not armed before the open mark are not noted") {
  CaptureRecord record("tracer", false);
  record.note_unarmed({.pid = 7, .point = 0, .from_ns = 1, .until_ns = 2});
  CHECK(record.about().unarmed.empty());
  record.open(kOpenNs, {});
  record.note_unarmed({.pid = 7, .point = 0, .from_ns = 1, .until_ns = 2});
  CHECK(record.about().unarmed.size() == 1);
}

TEST_CASE("too many unarmed spans become one span for all processes") {
  CaptureRecord record = open_record();
  constexpr std::uint64_t kMax = 65'536;
  for (std::uint64_t at = 1; at <= kMax + 10; ++at)
    record.note_unarmed({.pid = 7, .point = 3, .from_ns = at, .until_ns = at + 1});
  const auto& unarmed = record.about().unarmed;
  REQUIRE(unarmed.size() == kMax);
  CHECK(unarmed[kMax - 2].pid == 7);
  CHECK(unarmed.back().pid == 0);
  CHECK(unarmed.back().point == model::kNoPoint);
  CHECK(unarmed.back().from_ns == kMax);
  CHECK(unarmed.back().until_ns == kMax + 11);
}

TEST_CASE("a point that is shed is off until it is brought back, or to the close mark") {
  CaptureRecord record = open_record();
  record.begin_shedding(std::vector<model::PointId>{1, 2});
  CHECK(record.points_off() == std::vector<model::PointId>{1, 2});
  record.end_shedding(std::vector<model::PointId>{1});
  CHECK(record.points_off() == std::vector<model::PointId>{2});
  record.close(9'000'000'000'000'000'000);
  record.finish({});
  const auto& shed = record.about().shed;
  REQUIRE(shed.size() == 2);
  CHECK(shed[0].until_ns < record.about().close_ns);
  CHECK(shed[1].until_ns == record.about().close_ns);
}

TEST_CASE("a point costs as much as where it costs most, and nothing where that is not known") {
  CaptureRecord record = open_record();
  record.note_points(2);
  record.note_cost(1, 50, 0.1);
  record.note_cost(1, 40, 0.5);
  record.note_cost(3, 7, 0);
  CHECK(record.hit_cost_ps(0) == 0);
  CHECK(record.hit_cost_ps(1) == 50);
  CHECK(record.hit_cost_ps(3) == 7);
  CHECK(record.hit_cost_ps(100) == 0);
  CHECK(record.about().hit_cost_ps.size() == 4);
  CHECK(record.about().hit_spread_ps == std::vector<std::uint64_t>{0, 5, 0, 0});
}

TEST_CASE("a record that grows is written ever more rarely, and never where dumps have it") {
  const auto add = [](CaptureRecord& record) {
    record.note_unarmed({.pid = 7, .point = 0, .from_ns = 1, .until_ns = 2});
  };
  const auto write = [](CaptureRecord& record, Sink& sink) { record.write_unarmed(sink); };
  CaptureRecord record = open_record();
  // Each of the first 256, and those with twice as many as before: 512, 1024, 2048.
  CHECK(times_written(record, 4000, add, write) == 256 + 3);
  CHECK(times_written(record, 0, add, write) == 0);
  CaptureRecord held = open_record(true);
  CHECK(times_written(held, 300, add, write) == 0);

  const auto shed = [](CaptureRecord& one) { one.begin_shedding(std::vector<model::PointId>{1}); };
  CaptureRecord sheds = open_record();
  CHECK(times_written(sheds, 4000, shed,
                      [](CaptureRecord& one, Sink& sink) { one.write_shed(sink); }) == 256 + 3);
}

TEST_CASE("a point of a map that no process has is reported as not placed") {
  CaptureRecord record = open_record();
  model::Schema schema;
  schema.points.push_back(*model::parse_point("D a--b", "len"));
  const std::vector<std::string> of_both = {"D a--b", "U a--b", "D b--c", "U a--b"};
  record.note_unplaced(of_both, schema);
  CHECK(record.about().unplaced == std::vector<std::string>{"U a--b", "D b--c"});
}

}  // namespace
}  // namespace sojourn::capture
