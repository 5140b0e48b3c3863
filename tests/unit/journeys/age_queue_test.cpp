#include "analysis/journeys/units/age_queue.h"

#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::journeys {
namespace {

TEST_CASE("units leave in the order in which they came, whichever are removed early") {
  std::vector<Unit> units(1000);
  AgeQueue kept;
  for (std::size_t i = 0; i < units.size(); ++i) kept.append(&units[i], i);
  for (std::size_t i = 0; i < units.size(); ++i)
    if (i % 3 != 0) kept.remove(&units[i]);
  CHECK(kept.coming(3) == &units[3]);
  CHECK(kept.coming(4) == nullptr);
  CHECK(kept.coming(1000) == nullptr);
  for (std::size_t i = 0; i < units.size(); i += 3) {
    REQUIRE(kept.oldest() == &units[i]);
    CHECK(kept.oldest_since_ns() == i);
    kept.remove(kept.oldest());
  }
  CHECK(kept.empty());
}

TEST_CASE("one that stays long among many that go does not keep their memory") {
  std::vector<Unit> units(40);
  Unit stays;
  AgeQueue kept;
  const auto room = kept.room();
  kept.append(&stays, 1);
  for (std::uint64_t round = 0; round < 100; ++round) {
    for (auto& unit : units) kept.append(&unit, round);
    for (auto& unit : units) kept.remove(&unit);
  }
  CHECK(kept.oldest() == &stays);
  CHECK(kept.room() == room);
}

}  // namespace
}  // namespace sojourn::journeys
