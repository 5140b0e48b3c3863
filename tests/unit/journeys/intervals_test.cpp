#include "analysis/journeys/units/intervals.h"

#include <random>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::journeys {
namespace {

TEST_CASE("pieces in order become one interval") {
  IntervalSet set;
  CHECK(set.add({0, 10}) == 10);
  CHECK(set.add({10, 30}) == 20);
  CHECK(set.parts() == std::vector<Interval>{{0, 30}});
  CHECK(set.holds({0, 30}));
  CHECK_FALSE(set.holds({0, 31}));
}

TEST_CASE("only new bytes count") {
  IntervalSet set;
  set.add({10, 20});
  set.add({30, 40});
  CHECK(set.add({15, 35}) == 10);
  CHECK(set.add({15, 35}) == 0);
  CHECK(set.bytes() == 30);
  CHECK(set.add({5, 5}) == 0);
}

TEST_CASE("intervals in any order agree with a bitmap") {
  std::mt19937 random(3);
  for (int run = 0; run < 200; ++run) {
    IntervalSet set;
    std::vector<bool> bitmap(64, false);
    for (int i = 0; i < 20; ++i) {
      const auto begin = static_cast<std::uint32_t>(random() % 64);
      const auto end = begin + static_cast<std::uint32_t>(random() % (64 - begin));
      std::uint32_t fresh = 0;
      bool held = true;
      for (auto at = begin; at < end; ++at) {
        fresh += bitmap[at] ? 0U : 1U;
        held = held && bitmap[at];
      }
      CHECK(set.holds({begin, end}) == held);
      CHECK(set.add({begin, end}) == fresh);
      for (auto at = begin; at < end; ++at) bitmap[at] = true;
    }
    CHECK(set.bytes() == static_cast<std::uint32_t>(std::ranges::count(bitmap, true)));
  }
}

}  // namespace
}  // namespace sojourn::journeys
