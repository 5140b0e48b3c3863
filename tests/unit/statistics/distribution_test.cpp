#include "analysis/statistics/distribution.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

namespace sojourn::statistics {
namespace {

using Catch::Matchers::WithinRel;

constexpr double kShares[] = {0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 0.99999, 1};

std::uint64_t nearest_rank(const std::vector<std::uint64_t>& sorted, double share) {
  const auto rank = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

std::vector<std::uint64_t> samples(std::size_t count) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> latency(13, 2);
  std::vector<std::uint64_t> values(count);
  for (auto& value : values) value = static_cast<std::uint64_t>(latency(random));
  return values;
}

TEST_CASE("a few samples give exact quantiles by nearest rank") {
  Distribution times;
  for (const auto value : {50, 10, 40, 20, 30}) times.add(static_cast<std::uint64_t>(value));
  CHECK(times.count() == 5);
  CHECK(times.min() == 10);
  CHECK(times.max() == 50);
  CHECK_THAT(times.mean(), WithinRel(30.0, 1e-12));
  CHECK(times.quantile(0) == 10);
  CHECK(times.quantile(0.5) == 30);
  CHECK(times.quantile(0.61) == 40);
  CHECK(times.quantile(1) == 50);
  CHECK(times.above(30) == 2);
}

TEST_CASE("the spread is that of the samples, also far from 0 and when merged") {
  constexpr std::uint64_t kFar = 1'000'000'000'000;
  Distribution times;
  Distribution others;
  for (const std::uint64_t value : {2, 4, 4, 4}) times.add(kFar + value);
  for (const std::uint64_t value : {5, 5, 7, 9}) others.add(kFar + value);
  times.merge(others);
  CHECK_THAT(times.stdev(), WithinRel(std::sqrt(32.0 / 7.0), 1e-9));
  Distribution merged;
  merged.merge(times);
  CHECK_THAT(merged.stdev(), WithinRel(std::sqrt(32.0 / 7.0), 1e-9));
  Distribution one;
  one.add(7);
  CHECK(one.stdev() == 0);
}

TEST_CASE("a quantile's bounds are ranks, and open where there are too few samples") {
  Distribution times;
  for (std::uint64_t i = 1; i <= 1000; ++i) times.add(i);
  const auto median = times.confidence(0.5);
  CHECK(median.low == 470);  // 500 - 1.96 * sqrt(250)
  CHECK(median.high == 531);
  const auto high = times.confidence(0.99);
  CHECK(high.low == 984);
  CHECK(high.high == 997);
  CHECK_FALSE(times.confidence(0.999).high);
  CHECK(times.confidence(0.999).low == 998);
  CHECK_FALSE(Distribution().confidence(0.5).high);
  Distribution few;
  for (std::uint64_t i = 1; i <= 5; ++i) few.add(i);
  CHECK_FALSE(few.confidence(0.5).high);
  few.add(6);
  CHECK(few.confidence(0.5).high == 6);
}

TEST_CASE("95 of 100 intervals hold the true quantile") {
  std::mt19937_64 random(11);
  std::uniform_int_distribution<std::uint64_t> anything(0, 999'999);
  int held = 0;
  for (int round = 0; round < 1000; ++round) {
    Distribution times;
    for (int i = 0; i < 2000; ++i) times.add(anything(random));
    const auto interval = times.confidence(0.99);
    held += interval.low <= 989'999 && interval.high && *interval.high >= 989'999 ? 1 : 0;
  }
  CHECK(held >= 920);
  CHECK(held <= 985);
}

TEST_CASE("adding after asking keeps quantiles right") {
  Distribution times;
  times.add(5);
  times.add(3);
  CHECK(times.quantile(1) == 5);
  times.add(4);
  CHECK(times.quantile(0.5) == 4);
}

TEST_CASE("an empty distribution has quantiles of 0") {
  const Distribution times;
  CHECK(times.quantile(0.5) == 0);
  CHECK(times.min() == 0);
  CHECK(times.mean() == 0);
}

TEST_CASE("past a million samples quantiles stay within 0.1 %") {
  auto values = samples(Distribution::kExactSamples + 200'000);
  Distribution times;
  for (const auto value : values) times.add(value);
  REQUIRE_FALSE(times.exact());
  std::ranges::sort(values);
  for (const auto share : kShares) {
    const auto truth = static_cast<double>(nearest_rank(values, share));
    CHECK_THAT(static_cast<double>(times.quantile(share)), WithinRel(truth, 0.001));
  }
  CHECK(times.max() == values.back());
  CHECK(times.min() == values.front());
}

TEST_CASE("extreme values have buckets") {
  Distribution times;
  for (std::size_t i = 0; i <= Distribution::kExactSamples; ++i) times.add(0);
  times.add(UINT64_MAX);
  REQUIRE_FALSE(times.exact());
  CHECK(times.quantile(0.5) == 0);
  CHECK(times.quantile(1) == UINT64_MAX);
  CHECK(times.above(1) == 1);
}

TEST_CASE("a merge equals adding everything to one") {
  for (const std::size_t size : {std::size_t{1000}, Distribution::kExactSamples + 10}) {
    auto values = samples(size);
    Distribution left;
    Distribution right;
    Distribution whole;
    for (std::size_t i = 0; i < values.size(); ++i) {
      (i % 3 == 0 ? left : right).add(values[i]);
      whole.add(values[i]);
    }
    left.merge(right);
    CHECK(left.count() == whole.count());
    CHECK(left.max() == whole.max());
    for (const auto share : kShares)
      CHECK_THAT(static_cast<double>(left.quantile(share)),
                 WithinRel(static_cast<double>(whole.quantile(share)), 0.001));
  }
}

}  // namespace
}  // namespace sojourn::statistics
