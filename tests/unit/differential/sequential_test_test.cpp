// The test that may be looked at after each run: it is a martingale, holds its level, and says how
// many runs it takes.
#include "analysis/differential/sequential_test.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <vector>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

namespace sojourn::differential {
namespace {

using Catch::Approx;

// A B B A A B B A
bool is_new(std::size_t run) {
  return run % 4 == 1 || run % 4 == 2;
}

std::vector<Turn> turns_of(const std::vector<double>& values) {
  std::vector<Turn> turns;
  for (std::size_t at = 0; at < values.size(); ++at)
    turns.push_back({.value = values[at], .is_new = is_new(at)});
  return turns;
}

TEST_CASE("the evidence of all orders of the same runs is one on average") {
  for (const std::size_t count : {1U, 2U, 3U, 5U, 7U}) {
    CAPTURE(count);
    std::vector<double> values(count);
    std::iota(values.begin(), values.end(), 1.0);
    double sum = 0;
    double orders = 0;
    do {
      sum += evidence(turns_of(values));
      ++orders;
    } while (std::ranges::next_permutation(values).found);
    CHECK(sum / orders == Approx(1));
  }
}

TEST_CASE("without a difference the expected evidence does not change with the next run") {
  const std::vector<double> seen = {3, 5, 6, 1, 2, 4};
  const double before = evidence(turns_of(seen));
  double sum = 0;
  for (std::size_t rank = 0; rank <= seen.size(); ++rank) {
    auto values = seen;
    values.push_back(static_cast<double>(rank) + 0.5);
    sum += evidence(turns_of(values));
  }
  CHECK(sum / static_cast<double>(seen.size() + 1) == Approx(before));
}

TEST_CASE("among many series without a difference at most one in twenty is ever called different") {
  std::mt19937_64 random(11);
  std::exponential_distribution<double> skewed;
  unsigned alarms = 0;
  constexpr unsigned kSeries = 1000;
  constexpr std::size_t kRuns = 60;
  for (unsigned series = 0; series < kSeries; ++series) {
    std::vector<Turn> turns;
    bool is_alarm = false;
    for (std::size_t run = 0; run < kRuns && !is_alarm; ++run) {
      turns.push_back({.value = skewed(random), .is_new = is_new(run)});
      is_alarm = evidence(turns) >= 20;
    }
    alarms += is_alarm ? 1 : 0;
  }
  CHECK(alarms <= kSeries / 20);
}

TEST_CASE("the sides may change places, and equal values are no evidence") {
  std::vector<Turn> turns = turns_of({1, 4, 5, 2, 3, 9, 7, 2.5});
  auto mirrored = turns;
  for (Turn& turn : mirrored) turn.is_new = !turn.is_new;
  CHECK(evidence(turns) == Approx(evidence(mirrored)));
  auto backwards = turns;
  for (Turn& turn : backwards) turn.value = -turn.value;
  CHECK(evidence(backwards) > 1);
  for (Turn& turn : turns) turn.value = 7;
  CHECK(evidence(turns) < 1);
  CHECK(evidence({}) == Approx(1));
}

TEST_CASE("sides that are apart give the more evidence the more runs there are") {
  CHECK(evidence(turns_of({1, 11, 12, 2, 3, 13, 14, 4})) == Approx(most_evidence(4, 4)));
  CHECK(most_evidence(2, 2) < 20);
  CHECK(most_evidence(7, 7) > 20 * 20);
  CHECK(most_evidence(7, 7) < 3432.0 / 2);  // all ways to deal them out, to either side
  CHECK(turns_needed(1, 0.05) == 4);
  CHECK(turns_needed(20, 0.05) == 7);
  CHECK(turns_needed(1000, 0.05) > turns_needed(20, 0.05));
}

TEST_CASE("evidence of several tests is that of the mean of it and of any others") {
  CHECK(adjusted_evidence(std::array{30.0}) == std::vector{30.0});
  CHECK(adjusted_evidence(std::array{30.0, 0.0, 3.0}) == std::vector{11.0, 0.0, 1.5});
  // Equal evidence of all is the evidence of all together.
  CHECK(adjusted_evidence(std::array{30.0, 30.0}) == std::vector{30.0, 30.0});
  CHECK(adjusted_evidence({}).empty());
}

}  // namespace
}  // namespace sojourn::differential
