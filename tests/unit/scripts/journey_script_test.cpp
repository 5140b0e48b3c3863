// Journeys in a script's functions.
#include "userspace/scripts/journey_script.h"

#include <array>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/scripts/support.h"

namespace sojourn::scripts::test {
namespace {

// Two events: into b, and 400 ns later from there to c.
struct TwoSteps {
  std::array<std::uint64_t, 2> first = {100, 5};
  std::array<std::uint64_t, 3> second = {90, 5, 77};
  std::array<std::uint32_t, 1> parent = {0};
  std::array<journeys::Step, 2> steps = {
      journeys::Step{.ts_ns = 1000, .entered_ns = 1000, .point = 0, .values = first, .parents = {}},
      journeys::Step{
          .ts_ns = 1400, .entered_ns = 1400, .point = 1, .values = second, .parents = parent}};

  journeys::Journey journey() const {
    journeys::Journey made;
    made.id = 12;
    made.outcome = journeys::Outcome::kComplete;
    made.start_ns = 1000;
    made.end_ns = 1400;
    made.segments = 3;
    made.steps = steps;
    return made;
  }
};

bool keeps(const std::string& condition) {
  auto script = JourneyScript::create(
      {.name = "test.lua", .text = "filter_journeys(function(j) return " + condition + " end)"},
      schema(), kOpenNs, nullptr);
  REQUIRE(script);
  const TwoSteps two;
  const bool kept = (**script)(two.journey());
  INFO((*script)->error());
  REQUIRE((*script)->error().empty());
  return kept;
}

TEST_CASE("a journey is asked for its numbers, its fields and its stays") {
  CHECK(keeps("j.latency_ns == 400 and j.start_ns == 1000 and j.end_ns == 1400"));
  CHECK(keeps("j.id == 12 and j.dir == 'D' and j.segments == 3 and j.events == 2"));
  CHECK(keeps("j.complete and not j.censored and not j.dropped and not j.incomplete"));
  CHECK(keeps("j.len == 100 and j.rnti == 5 and j.sn == 77 and j.mutex == nil"));
  CHECK(keeps("j:at('b') == 400 and j:at('c') == nil"));
  CHECK_FALSE(keeps("j.latency_ns > 400"));
}

TEST_CASE("a column is a journey's as well") {
  const std::string text =
      "column { name = 'first', points = 'D b--c', value = function(e) return 1 end }\n"
      "column { name = 'twice', points = 'D *', value = function(e) return e.rnti * 2 end }\n"
      "filter_journeys(function(j) return j.first == 41 and j.twice == 42 end)";
  auto script =
      JourneyScript::create({.name = "test.lua", .text = text}, schema(), kOpenNs, nullptr);
  REQUIRE(script);
  TwoSteps two;
  const std::array<std::uint64_t, 3> first = {100, 5, 42};
  const std::array<std::uint64_t, 5> second = {90, 5, 77, 41, 42};
  two.steps[0].values = first;
  two.steps[1].values = second;
  CHECK((**script)(two.journey()));
  CHECK((*script)->error().empty());
}

TEST_CASE("an error of a function for journeys is reported, and no journey is kept after it") {
  auto script = JourneyScript::create(
      {.name = "test.lua", .text = "\nfilter_journeys(function(j) return j.mutex > 1 end)"},
      schema(), kOpenNs, nullptr);
  REQUIRE(script);
  const TwoSteps two;
  CHECK_FALSE((**script)(two.journey()));
  CHECK((*script)->error() == "test.lua:2: attempt to compare number with nil");
  CHECK_FALSE((**script)(two.journey()));
}

TEST_CASE("a place that there is not is a slip") {
  auto script = JourneyScript::create(
      {.name = "test.lua", .text = "filter_journeys(function(j) return j:at('x') end)"}, schema(),
      kOpenNs, nullptr);
  REQUIRE(script);
  const TwoSteps two;
  CHECK_FALSE((**script)(two.journey()));
  CHECK((*script)->error() == "test.lua:1: there is no place \"x\" in the trace");
}

}  // namespace
}  // namespace sojourn::scripts::test
