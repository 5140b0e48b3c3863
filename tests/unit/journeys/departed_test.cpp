#include "analysis/journeys/departed.h"

#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::journeys {
namespace {

TEST_CASE("units that left go in their order, whoever goes early, and however many there are") {
  std::vector<Unit> units(1000);
  Departed departed;
  for (std::size_t i = 0; i < units.size(); ++i) departed.append(&units[i], i);
  for (std::size_t i = 0; i < units.size(); ++i)
    if (i % 3 != 0) departed.remove(&units[i]);
  CHECK(departed.coming(3) == &units[3]);
  CHECK(departed.coming(4) == nullptr);
  CHECK(departed.coming(units.size()) == nullptr);
  for (std::size_t i = 0; i < units.size(); i += 3) {
    REQUIRE(departed.oldest() == &units[i]);
    CHECK(departed.oldest_since_ns() == i);
    departed.remove(departed.oldest());
  }
  CHECK(departed.empty());
}

TEST_CASE("one that stays long among many that go does not keep their memory") {
  std::vector<Unit> units(40);
  Unit stays;
  Departed departed;
  departed.append(&stays, 1);
  for (std::uint64_t round = 0; round < 100; ++round) {
    for (auto& unit : units) departed.append(&unit, round);
    for (auto& unit : units) departed.remove(&unit);
  }
  CHECK(departed.oldest() == &stays);
  CHECK(departed.room() == 64);
}

}  // namespace
}  // namespace sojourn::journeys
