// Streams of other tracers beside those of a recorded trace: the trace does not change, and each
// event has its time.
#include "analysis/imports/destination.h"

#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/trace/reader.h"
#include "analysis/trace/writer.h"
#include "tests/support/child.h"
#include "userspace/files/trace_file.h"

namespace sojourn::imports {
namespace {

// The recorded trace's clock was 1000 when the wall's was this.
constexpr std::uint64_t kWall = 1'700'000'000'000'000'000;

model::Schema one_point(const char* name) {
  model::Point point;
  point.direction = model::Direction::kScalar;
  point.src = name;
  model::Schema schema;
  schema.points.push_back(point);
  return schema;
}

model::EventBatch batch(const std::vector<std::uint64_t>& times, std::uint32_t stream = 0) {
  model::EventBatch events;
  for (const std::uint64_t time : times)
    events.append({.ts_ns = time,
                   .seq = events.size(),
                   .stream = stream,
                   .tid = 5,
                   .point = 0,
                   .values = {}});
  return events;
}

class Recorded {
 public:
  explicit Recorded(std::vector<model::ClockPair> clocks) {
    auto writer = files::create_trace(path());
    REQUIRE(writer.has_value());
    REQUIRE(writer->write(one_point("recorded")));
    model::Target target;
    target.pid = 42;
    target.name = "gnb";
    REQUIRE(writer->write(target));
    REQUIRE(writer->write(model::Stream{.id = 7, .engine = model::Engine::kRing}));
    for (const model::ClockPair& clock : clocks) REQUIRE(writer->write(clock));
    REQUIRE(writer->write(batch({2000, 3000}, 7)));
    model::Capture capture;
    capture.tracer = "sojourn";
    capture.open_ns = 1000;
    capture.close_ns = 9000;
    capture.stream_hits = {0, 0, 0, 0, 0, 0, 0, 2};
    REQUIRE(writer->write(capture));
    REQUIRE(writer->finish());
  }

  std::string path() const { return directory_.path("run.sjt"); }
  std::string output() const { return directory_.path("both.sjt"); }

  trace::Reader open(const std::string& path) const {
    auto reader = files::open_trace(path);
    REQUIRE(reader.has_value());
    return std::move(*reader);
  }

 private:
  test::TemporaryDirectory directory_;
};

const std::vector<model::ClockPair> kClocks = {{.monotonic_ns = 1000, .realtime_ns = kWall}};

TEST_CASE("imported events stand beside the recorded ones, in the recorded time") {
  const Recorded recorded(kClocks);
  trace::Reader reader = recorded.open(recorded.path());
  auto writer = files::create_trace(recorded.output());
  auto into = Destination::beside(reader, *writer, [](auto, auto) {});
  REQUIRE(into.has_value());
  ImportedFile file;
  file.path = "record.raw";
  REQUIRE(into->begin(file));
  // One before the open mark, two within, one at the close mark.
  REQUIRE(into->write(batch({kWall - 1, kWall + 1500, kWall + 7999, kWall + 8000}),
                      one_point("imported")));
  REQUIRE(into->end());
  REQUIRE(into->finish("T"));
  REQUIRE(writer->finish());
  CHECK(file.events == 2);
  CHECK(file.outside == 2);
  CHECK(file.first_ns == kWall - 1);
  CHECK(file.last_ns == kWall + 8000);

  trace::Reader both = recorded.open(recorded.output());
  CHECK(both.target().pid == 42);
  CHECK(both.clocks() == kClocks);
  CHECK(both.capture().tracer == "sojourn");
  CHECK(both.capture().stream_hits == std::vector<std::uint64_t>{0, 0, 0, 0, 0, 0, 0, 2, 2});
  REQUIRE(both.schema().points.size() == 2);
  CHECK(both.schema().points[1].src == "imported");
  std::vector<std::uint64_t> times;
  std::vector<std::uint32_t> streams;
  std::vector<model::PointId> points;
  REQUIRE(both.merge([&](const model::EventBatch& events) {
    for (std::size_t row = 0; row < events.size(); ++row) {
      times.push_back(events[row].ts_ns);
      streams.push_back(events[row].stream);
      points.push_back(events[row].point);
    }
    return true;
  }));
  CHECK(times == std::vector<std::uint64_t>{2000, 2500, 3000, 8999});
  CHECK(streams == std::vector<std::uint32_t>{7, 8, 7, 8});
  CHECK(points == std::vector<model::PointId>{0, 1, 0, 1});
  CHECK(both.gaps().empty());
}

TEST_CASE("the wall's clock may have been set while the trace was recorded") {
  const Recorded recorded({{.monotonic_ns = 1000, .realtime_ns = kWall},
                           {.monotonic_ns = 5000, .realtime_ns = kWall + 1'000'000}});
  trace::Reader reader = recorded.open(recorded.path());
  auto writer = files::create_trace(recorded.output());
  auto into = Destination::beside(reader, *writer, [](auto, auto) {});
  REQUIRE(into.has_value());
  ImportedFile file;
  file.path = "record.raw";
  REQUIRE(into->begin(file));
  REQUIRE(into->write(batch({kWall + 500, kWall + 1'000'500}), one_point("imported")));
  REQUIRE(into->finish("T"));
  REQUIRE(writer->finish());
  trace::Reader both = recorded.open(recorded.output());
  CHECK(both.blocks().back().min_ts_ns == 1500);
  CHECK(both.blocks().back().max_ts_ns == 5500);
}

TEST_CASE("a recording of another time is refused with both times") {
  const Recorded recorded(kClocks);
  trace::Reader reader = recorded.open(recorded.path());
  auto writer = files::create_trace(recorded.output());
  auto into = Destination::beside(reader, *writer, [](auto, auto) {});
  REQUIRE(into.has_value());
  ImportedFile file;
  file.path = "record.raw";
  REQUIRE(into->begin(file));
  REQUIRE(into->write(batch({5, 3600ull * 1'000'000'000}), one_point("imported")));
  const auto ended = into->end();
  REQUIRE(!ended.has_value());
  CHECK(ended.error().text().contains("record.raw: no event is from the time of "));
  CHECK(ended.error().text().contains(
      "its events are from 1970-01-01 00:00:00 UTC to 1970-01-01 01:00:00 UTC"));
  CHECK(ended.error().text().contains("and that trace from 2023-11-14 22:13:20 UTC"));
}

TEST_CASE("a trace that does not know the wall's time, or is damaged, is not built upon") {
  const Recorded timeless({});
  trace::Reader reader = timeless.open(timeless.path());
  auto writer = files::create_trace(timeless.output());
  const auto into = Destination::beside(reader, *writer, [](auto, auto) {});
  REQUIRE(!into.has_value());
  CHECK(into.error().text().contains("on the wall's clock"));

  const Recorded recorded(kClocks);
  std::string bytes = test::contents(recorded.path());
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0xff);
  test::write_contents(recorded.path(), bytes);
  trace::Reader damaged = recorded.open(recorded.path());
  model::EventBatch events;
  bool found = !damaged.damage().empty();
  for (const trace::BlockInfo& block : damaged.blocks()) found |= !damaged.read(block, events);
  REQUIRE(found);
  trace::Reader again = recorded.open(recorded.path());
  CHECK(!Destination::beside(again, *writer, [](auto, auto) {}).has_value());
}

}  // namespace
}  // namespace sojourn::imports
