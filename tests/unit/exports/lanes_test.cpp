#include "analysis/exports/lanes.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::exports {
namespace {

TEST_CASE("stays that touch are in lanes of their own, and others share one") {
  Lanes lanes;
  CHECK(lanes.take(10, 20) == 0);
  CHECK(lanes.take(15, 25) == 1);
  CHECK(lanes.take(20, 22) == 2);  // it begins as the first one ends
  CHECK(lanes.take(21, 30) == 0);
  CHECK(lanes.take(1, 9) == 0);  // a late stay
  CHECK(lanes.take(5, 5) == 1);
  CHECK(lanes.take(5, 5) == 2);
  CHECK(lanes.count() == 3);
}

TEST_CASE("no two stays of a lane ever touch, whatever their order and however many") {
  std::mt19937_64 random(7);
  Lanes lanes;
  std::map<std::size_t, std::vector<std::pair<std::uint64_t, std::uint64_t>>> by_lane;
  for (std::uint64_t at = 0; at < 60'000; ++at) {
    const std::uint64_t begin = 1000 * at - std::min(1000 * at, random() % 2'000'000);
    const std::uint64_t end = begin + random() % 3000;
    by_lane[lanes.take(begin, end)].emplace_back(begin, end);
  }
  CHECK(by_lane.size() == lanes.count());
  for (auto& [lane, spans] : by_lane) {
    std::ranges::sort(spans);
    for (std::size_t at = 1; at < spans.size(); ++at)
      REQUIRE(spans[at - 1].second < spans[at].first);
  }
}

TEST_CASE("a stay that is older than a lane's memory gets another lane") {
  Lanes lanes;
  for (std::uint64_t at = 1; at <= 2 * Lanes::kMaxRemembered; ++at)
    REQUIRE(lanes.take(10 * at, 10 * at + 1) == 0);
  CHECK(lanes.take(15, 16) == 1);
}

}  // namespace
}  // namespace sojourn::exports
