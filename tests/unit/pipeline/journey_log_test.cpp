#include "analysis/pipeline/journey_log.h"

#include <array>
#include <cstdint>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::pipeline {
namespace {

// A journey of two steps, the second of which is ambiguous; its numbers identify it.
struct Told {
  explicit Told(std::uint64_t id) : first{id, 1}, second{id, 2}, other{id, 3} {
    steps[0].values = first;
    steps[1].values = second;
    steps[1].parents = parents;
    alternatives[0].values = other;
    ambiguities[0] = {.step = 1, .alternatives = alternatives};
    critical_path[0].ns = id;
    inside[0].since_ns = id;
    journey = {.id = id,
               .inside = inside,
               .critical_path = critical_path,
               .steps = steps,
               .ambiguities = ambiguities};
  }

  std::array<std::uint64_t, 2> first;
  std::array<std::uint64_t, 2> second;
  std::array<std::uint64_t, 2> other;
  std::array<std::uint32_t, 1> parents = {0};
  std::array<journeys::Step, 2> steps;
  std::array<journeys::Alternative, 1> alternatives;
  std::array<journeys::Ambiguity, 1> ambiguities;
  std::array<journeys::CriticalPathSpan, 1> critical_path;
  std::array<journeys::Inside, 1> inside;
  journeys::Journey journey;
};

void check(const journeys::Journey& kept, std::uint64_t id) {
  CHECK(kept.id == id);
  REQUIRE(kept.steps.size() == 2);
  CHECK(kept.steps[0].values.front() == id);
  CHECK(kept.steps[0].parents.empty());
  CHECK(kept.steps[1].values.front() == id);
  CHECK(kept.steps[1].values.back() == 2);
  REQUIRE(kept.steps[1].parents.size() == 1);
  CHECK(kept.steps[1].parents.front() == 0);
  REQUIRE(kept.ambiguities.size() == 1);
  REQUIRE(kept.ambiguities.front().alternatives.size() == 1);
  CHECK(kept.ambiguities.front().alternatives.front().values.front() == id);
  REQUIRE(kept.critical_path.size() == 1);
  CHECK(kept.critical_path.front().ns == id);
  REQUIRE(kept.inside.size() == 1);
  CHECK(kept.inside.front().since_ns == id);
}

TEST_CASE("kept journeys stay whole after the reported ones are gone") {
  JourneyLog log;
  constexpr std::uint64_t kMany = 100;
  for (std::uint64_t id = 1; id <= kMany; ++id) log.add(Told(id).journey);
  REQUIRE(log.size() == kMany);
  for (std::uint64_t id = 1; id <= kMany; ++id) check(log[id - 1], id);
  log.clear();
  CHECK(log.size() == 0);
  log.add(Told(7).journey);
  check(log[0], 7);
}

}  // namespace
}  // namespace sojourn::pipeline
