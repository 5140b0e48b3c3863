#include "analysis/journeys/match/tiling.h"

#include <optional>
#include <random>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::journeys {
namespace {

using Pieces = std::vector<std::optional<Interval>>;

std::vector<std::size_t> used(const Pieces& pieces, std::uint32_t whole) {
  Tiling tiling;
  std::vector<std::size_t> used;
  if (!tiling.find(pieces, whole)) return used;
  for (std::size_t at = 0; at < pieces.size(); ++at)
    if (tiling.uses(at)) used.push_back(at);
  return used;
}

using Used = std::vector<std::size_t>;

TEST_CASE("pieces of two units are distinguished by their edges") {
  // 120 bytes cut at 50, and 100 cut at 60.
  const Pieces pieces = {Interval{0, 50}, Interval{0, 60}, Interval{60, 100}, Interval{50, 120}};
  CHECK(used(pieces, 120) == Used{0, 3});
  CHECK(used(pieces, 100) == Used{1, 2});
  CHECK(used(pieces, 110).empty());
}

TEST_CASE("of several pieces that fit the newest are taken, and other units never are") {
  const Pieces pieces = {Interval{0, 50}, Interval{0, 50}, std::nullopt, Interval{50, 50},
                         Interval{50, 80}};
  CHECK(used(pieces, 80) == Used{1, 4});
  CHECK(used({}, 80).empty());
}

TEST_CASE("a unit that was cut somehow is found to be whole, whatever else waits") {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    const auto whole = 1 + static_cast<std::uint32_t>(random() % 200);
    Pieces pieces;
    for (std::uint32_t begin = 0, end = 0; begin < whole; begin = end) {
      for (auto others = random() % 3; others > 0; --others) {
        const auto other = static_cast<std::uint32_t>(random() % whole);
        pieces.emplace_back(Interval{other, other + static_cast<std::uint32_t>(random() % 100)});
      }
      end = begin + 1 + static_cast<std::uint32_t>(random() % (whole - begin));
      pieces.emplace_back(Interval{begin, end});
    }
    Tiling tiling;
    REQUIRE(tiling.find(pieces, whole));
    std::vector<int> bytes(whole, 0);
    for (std::size_t at = 0; at < pieces.size(); ++at)
      if (tiling.uses(at))
        for (auto byte = pieces[at]->begin; byte < pieces[at]->end; ++byte) ++bytes.at(byte);
    REQUIRE(bytes == std::vector<int>(whole, 1));
  }
}

}  // namespace
}  // namespace sojourn::journeys
