// A budget that is far too small: points that are shed are reported, are in the trace, and come
// back.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <set>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <nlohmann/json.hpp>

#include "tests/live/control_group.h"
#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

struct Counts {
  std::uint64_t in_trace = 0;
  std::uint64_t lost = 0;
  std::uint64_t least = 0;  // by the truth
  std::uint64_t most = 0;
};

// Counts the time outside of the point's shed spans, and between the marks.
class Outside {
 public:
  explicit Outside(const model::Capture& capture) : capture_(&capture) {}

  bool surely(model::PointId point, std::uint64_t from_ns, std::uint64_t to_ns) const {
    return from_ns >= capture_->open_ns && to_ns < capture_->close_ns &&
           std::ranges::none_of(
               capture_->shed,
               [&](const model::ShedSpan& span) {
                 return span.point == point && span.from_ns <= to_ns && span.until_ns >= from_ns;
               });
  }

  bool possibly(model::PointId point, std::uint64_t from_ns, std::uint64_t to_ns) const {
    return to_ns >= capture_->open_ns && from_ns < capture_->close_ns &&
           std::ranges::none_of(
               capture_->shed,
               [&](const model::ShedSpan& span) {
                 return span.point == point && span.from_ns < from_ns && to_ns < span.until_ns;
               });
  }

 private:
  const model::Capture* capture_;
};

std::string words(const model::Point& point) {
  return std::string(1, letter(point.direction)) + " " + point.name();
}

std::map<std::string, Counts> count(trace::Reader& reader, const truth::Truth& truth) {
  std::map<std::string, Counts> counts;
  std::map<std::string, model::PointId> ids;
  const model::Schema& schema = reader.schema();
  const Outside outside(reader.capture());
  const std::uint64_t error_ns = reader.capture().stamp_error_ns;
  for (std::size_t id = 0; id < schema.points.size(); ++id)
    ids[words(schema.points[id])] = static_cast<model::PointId>(id);
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row) {
      const model::EventView event = batch[row];
      if (outside.surely(event.point, event.ts_ns, event.ts_ns))
        ++counts[words(schema.points[event.point])].in_trace;
    }
    return true;
  }));
  for (const model::LedgerEntry& entry : reader.ledger())
    counts[words(schema.points[entry.point])].lost += entry.count;
  for (const truth::Hit& hit : truth.hits) {
    const std::string& name = truth.points[hit.point].where;
    const model::PointId point = ids.at(name);
    const std::uint64_t from_ns = hit.before_ns - error_ns;
    const std::uint64_t to_ns = hit.after_ns + error_ns;
    if (outside.surely(point, from_ns, to_ns)) ++counts[name].least;
    if (outside.possibly(point, from_ns, to_ns)) ++counts[name].most;
  }
  return counts;
}

TEST_CASE("over its budget points are shed, said, left out exactly, and brought back") {
  need_root();
  const std::string engine = GENERATE("ring", "bpf");
  CAPTURE(engine);
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  Station station;
  test::Child tracer({SJ_SOJOURN, "record", "-p", std::to_string(station.pid()), "-o", trace,
                      "--engine", engine, "--budget", "0.01"});
  REQUIRE(tracer.wait_for_output("shed "));
  // Its load stops, and with it the cost.
  REQUIRE(kill(station.pid(), SIGSTOP) == 0);
  CHECK(tracer.wait_for_output("all points are on again"));
  REQUIRE(kill(station.pid(), SIGCONT) == 0);
  tracer.signal(SIGINT);
  const test::Ended ended = tracer.wait();
  CAPTURE(ended.err);
  CHECK(ended.exit_code == 0);
  const truth::Truth truth = station.finish();

  trace::Reader reader = open_trace(trace);
  const model::Capture& capture = reader.capture();
  REQUIRE(!capture.shed.empty());
  for (const model::ShedSpan& span : capture.shed) {
    CHECK(span.from_ns >= capture.open_ns);
    CHECK(span.from_ns < span.until_ns);
  }
  for (const auto& [point, counts] : count(reader, truth)) {
    CAPTURE(point, counts.in_trace, counts.lost);
    CHECK(counts.in_trace + counts.lost >= counts.least);
    CHECK(counts.in_trace <= counts.most);
  }
}

// By eBPF a hit costs as much as the work on a packet.
TEST_CASE("by eBPF the default budget switches whole paths off, and slots stay") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  Station station;
  const test::Ended ended = sojourn({"record", "-p", std::to_string(station.pid()), "--engine",
                                     "bpf", "--for", "3s", "-o", trace});
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK(ended.err.contains("--budget none keeps all points on"));
  trace::Reader reader = open_trace(trace);
  const auto& points = reader.schema().points;
  // Points of one decision are switched off one after the other, within a millisecond.
  std::multimap<std::uint64_t, model::PointId> in_order;
  for (const model::ShedSpan& span : reader.capture().shed)
    in_order.emplace(span.from_ns, span.point);
  std::map<std::uint64_t, std::set<model::PointId>> shed_at;
  for (const auto& [from_ns, point] : in_order) {
    const bool is_next = shed_at.empty() || from_ns - shed_at.rbegin()->first > 1'000'000;
    (is_next ? shed_at[from_ns] : shed_at.rbegin()->second).insert(point);
  }
  std::set<model::Direction> whole;
  REQUIRE(!shed_at.empty());
  for (const auto& [from_ns, off] : shed_at)
    for (const model::PointId point : off) {
      const model::Direction direction = points[point].direction;
      CHECK(direction != model::Direction::kSync);
      if (direction == model::Direction::kScalar) continue;
      whole.insert(direction);
      // Every point of its direction went with it: the station's directions are one path each.
      for (std::size_t other = 0; other < points.size(); ++other)
        if (points[other].direction == direction)
          CHECK(off.contains(static_cast<model::PointId>(other)));
    }
  CHECK(!whole.empty());
}

TEST_CASE("points of a library that comes later are under the budget as well") {
  need_root();
  const std::string engine = GENERATE("ring", "bpf");
  CAPTURE(engine);
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  const std::string late = "library.in--library.out";
  test::Child subject({SJ_SUBJECT_LOADER, SJ_SUBJECT_LIBRARY});
  REQUIRE(subject.wait_for_output("ready"));
  test::Child tracer({SJ_SOJOURN, "record", "-p", std::to_string(subject.pid()), "-o", trace,
                      "--engine", engine, "--budget", "0.00001"});
  REQUIRE(tracer.wait_for_output("shed loader.in--library.in"));
  subject.signal(SIGUSR1);
  REQUIRE(tracer.wait_for_output("has loaded"));
  CHECK(tracer.wait_for_output("shed " + late));
  tracer.signal(SIGINT);
  const test::Ended ended = tracer.wait();
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);

  const trace::Reader reader = open_trace(trace);
  const model::Capture& capture = reader.capture();
  const auto is_late = [&](const model::ShedSpan& span) {
    return reader.schema().points.at(span.point).name() == late;
  };
  CHECK(std::ranges::any_of(capture.shed, is_late));
  for (std::size_t point = 0; point < reader.schema().points.size(); ++point)
    CHECK(capture.hit_cost_ps.at(point) > 0);
}

// A point is off in all processes while it is shed, and on in all of them before and after. By eBPF
// it takes some milliseconds to remove the probes at a span's beginning, and to place them at its
// end. So a part in the middle is checked.
void check_off_and_on(trace::Reader& reader, pid_t late) {
  const auto& shed = reader.capture().shed;
  REQUIRE(shed.size() >= 2);        // the second one shows that the trial was for all
  std::set<std::uint32_t> streams;  // of the late joiner
  for (const model::Stream& stream : reader.streams())
    if (stream.pid == late) streams.insert(stream.id);
  std::uint64_t while_off = 0;
  std::uint64_t of_late = 0;
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row) {
      const model::EventView event = batch[row];
      of_late += streams.contains(event.stream) ? 1 : 0;
      while_off += std::ranges::any_of(shed, [&](const model::ShedSpan& span) {
        const std::uint64_t half = (span.until_ns - span.from_ns) / 2;
        return span.point == event.point && event.ts_ns >= span.from_ns + half &&
               event.ts_ns < span.from_ns + half + half / 2;
      });
    }
    return true;
  }));
  CHECK(while_off == 0);
  CHECK(of_late > 0);
}

TEST_CASE("a child that is forked while points are shed has them off, and back with the others") {
  need_root();
  const std::string engine = GENERATE("ring", "bpf");
  CAPTURE(engine);
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  test::Child parent({SJ_SUBJECT_FAMILY});
  REQUIRE(parent.wait_for_output("ready"));
  test::Child tracer({SJ_SOJOURN, "record", "-p", std::to_string(parent.pid()), "--follow",
                      "--engine", engine, "--budget", "0.00001", "-o", trace});
  REQUIRE(tracer.wait_for_output("shed family.in--family.out"));
  parent.signal(SIGUSR1);
  REQUIRE(tracer.wait_for_output("was forked"));
  // A trial of them all, and its end: both have the point on, and then off.
  REQUIRE(tracer.wait_for_output("brought back", "was forked"));
  std::this_thread::sleep_for(std::chrono::seconds(2));
  tracer.signal(SIGINT);
  const test::Ended ended = tracer.wait();
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  trace::Reader reader = open_trace(trace);
  REQUIRE(reader.targets().size() == 2);
  const bool is_first = reader.targets().front().pid != parent.pid();
  check_off_and_on(reader, reader.targets()[is_first ? 0 : 1].pid);
}

TEST_CASE("a process that comes into a cgroup while points are shed has them off as well") {
  need_root();
  const std::string engine = GENERATE("ring", "bpf");
  CAPTURE(engine);
  const ControlGroup group("");
  if (!group.is_there()) SKIP("no cgroup can be made in the hierarchy of version 2 here");
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  test::Child first({SJ_SUBJECT_LINKED, "100000000"});
  test::Child late({SJ_SUBJECT_LINKED, "100000000"});
  REQUIRE(first.wait_for_output("ready"));
  REQUIRE(late.wait_for_output("ready"));
  move(first.pid(), group.path());
  test::Child tracer({SJ_SOJOURN, "record", "--cgroup", group.path(), "--engine", engine,
                      "--budget", "0.00001", "-o", trace});
  REQUIRE(tracer.wait_for_output("shed "));
  move(late.pid(), group.path());
  const std::string came = "process " + std::to_string(late.pid());
  REQUIRE(tracer.wait_for_output(came));
  REQUIRE(tracer.wait_for_output("brought back", came));
  std::this_thread::sleep_for(std::chrono::seconds(2));
  tracer.signal(SIGINT);
  const test::Ended ended = tracer.wait();
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  for (test::Child* child : {&first, &late}) {  // its group must be empty to be removed
    child->signal(SIGKILL);
    child->wait();
  }
  trace::Reader reader = open_trace(trace);
  check_off_and_on(reader, late.pid());
}

TEST_CASE("journeys that a shed point cut are censored, never called incomplete") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  Station station;
  sojourn_done({"record", "-p", std::to_string(station.pid()), "-o", trace, "--engine", "ring",
                "--budget", "0.05", "--for", "3s"});
  const auto report = nlohmann::json::parse(sojourn_done({"report", "--json", trace}));
  REQUIRE(!report["tracing"]["shed"].empty());
  for (const std::string direction : {"D", "U"}) {
    CAPTURE(direction, report["journeys"][direction].dump());
    CHECK(report["journeys"][direction]["incomplete"] == 0);
    CHECK(report["journeys"][direction]["censored"] > 0);
  }
}

}  // namespace
}  // namespace sojourn::live
