// Activities and markers around a packet, and those that are reported with it.
#include "analysis/report/activity_log.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/report/journey_selection.h"

namespace sojourn::report {
namespace {

// 0: D a--b, 1: D b--c, 2: an activity, 3: a marker.
model::Schema schema() {
  model::Schema made;
  made.points = {{.src = "a", .dest = "b", .fields = {}, .file = {}},
                 {.src = "b", .dest = "c", .fields = {}, .file = {}},
                 {.direction = model::Direction::kScript,
                  .src = "held",
                  .dest = {},
                  .fields = {{.name = "dur_ns"}, {.name = "mutex"}},
                  .file = {}},
                 {.direction = model::Direction::kScript,
                  .src = "late",
                  .dest = {},
                  .fields = {},
                  .file = {}}};
  return made;
}

void add(ActivityLog& log, std::uint64_t end_ns, std::uint32_t tid, std::uint64_t took_ns,
         std::uint64_t mutex) {
  model::EventBatch batch;
  const std::array values = {took_ns, mutex};
  batch.append({.ts_ns = end_ns, .tid = tid, .point = 2, .values = values});
  log.on_events(batch);
}

// Into b at 1000 by thread 7, out of it at 1400 by thread 8.
struct TwoSteps {
  std::array<std::uint32_t, 1> parent = {0};
  std::array<journeys::Step, 2> steps = {
      journeys::Step{.ts_ns = 1000, .tid = 7, .point = 0, .values = {}, .parents = {}},
      journeys::Step{.ts_ns = 1400, .tid = 8, .point = 1, .values = {}, .parents = parent}};

  journeys::Journey journey() const {
    return {.outcome = journeys::Outcome::kComplete,
            .start_ns = 1000,
            .end_ns = 1400,
            .end_step = 1,
            .steps = steps};
  }
};

using Found = std::vector<std::pair<std::uint32_t, std::uint64_t>>;  // step, mutex
Found found(const ActivityLog::Found& around) {
  Found all;
  for (const journeys::Meanwhile& made : around.made) all.emplace_back(made.step, made.values[1]);
  return all;
}

TEST_CASE(
    "activities that end on the thread of a stay's end, during the stay, are listed with the "
    "packet") {
  ActivityLog log(schema());
  add(log, 999, 8, 10, 1);    // before
  add(log, 1000, 7, 50, 2);   // by the event that the packet came by
  add(log, 1100, 7, 10, 3);   // the thread that brought it went on to others
  add(log, 1200, 8, 500, 4);  // began before
  add(log, 1400, 8, 10, 5);   // by the event that ended the stay
  add(log, 1401, 8, 10, 6);
  const TwoSteps two;
  const auto around = log.around(two.journey());
  CHECK(found(around) == Found{{0, 2}, {1, 4}, {1, 5}});
  CHECK_FALSE(around.lacks_some);
  CHECK(around.made[1].begin_ns == 700);
  CHECK(around.made[1].end_ns == 1200);
  CHECK(around.made[1].tid == 8);
}

TEST_CASE("stays that overlap list an activity once, with the first that it belongs to") {
  ActivityLog log(schema());
  add(log, 1100, 8, 10, 1);
  add(log, 1250, 8, 10, 2);
  const std::array<std::uint32_t, 1> parent = {0};
  const std::array steps = {
      journeys::Step{.ts_ns = 1000, .tid = 7, .point = 0, .values = {}, .parents = {}},
      journeys::Step{.ts_ns = 1200, .tid = 8, .point = 1, .values = {}, .parents = parent},
      journeys::Step{.ts_ns = 1300, .tid = 8, .point = 1, .values = {}, .parents = parent}};
  CHECK(found(log.around({.start_ns = 1000, .steps = steps})) == Found{{1, 1}, {2, 2}});
}

TEST_CASE("the oldest are forgotten, and a packet of that time says that it lacks some") {
  ActivityLog log(schema(), 2);
  const TwoSteps two;
  add(log, 1000, 7, 50, 1);
  add(log, 1200, 8, 10, 2);
  CHECK_FALSE(log.around(two.journey()).lacks_some);
  add(log, 1300, 8, 10, 3);
  const auto around = log.around(two.journey());
  CHECK(found(around) == Found{{1, 2}, {1, 3}});
  CHECK(around.lacks_some);
  // A packet that came later lacks none.
  CHECK_FALSE(log.around({.start_ns = 1001}).lacks_some);
}

TEST_CASE("a packet lists a limited number of activities, and shows that there are more") {
  ActivityLog log(schema());
  for (std::size_t at = 0; at <= ActivityLog::kMostOfJourney; ++at) add(log, 1200, 8, 1, at);
  const TwoSteps two;
  const auto around = log.around(two.journey());
  CHECK(around.made.size() == ActivityLog::kMostOfJourney);
  CHECK(around.lacks_some);
}

TEST_CASE("a trace without a script's points has none") {
  model::Schema plain = schema();
  CHECK_FALSE(ActivityLog(plain).is_empty());
  plain.points.resize(2);
  CHECK(ActivityLog(plain).is_empty());
}

TEST_CASE("the slowest packets keep the activities around them, whatever comes later") {
  ActivityLog log(schema(), 1);
  Found told;
  JourneySelection selection(
      {.worst = 1},
      [&](const journeys::Journey& journey) {
        for (const auto& made : journey.meanwhile) told.emplace_back(made.step, made.values[1]);
      },
      &log);
  const TwoSteps two;
  add(log, 1200, 8, 10, 4);
  selection.on_journey(two.journey());
  add(log, 9000, 8, 10, 5);
  selection.finish();
  CHECK(told == Found{{1, 4}});
}

}  // namespace
}  // namespace sojourn::report
