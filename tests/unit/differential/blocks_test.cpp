#include "analysis/differential/blocks.h"

#include <cmath>
#include <random>
#include <vector>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "tests/unit/differential/queueing.h"

namespace sojourn::differential {
namespace {

using Catch::Approx;

std::vector<float> wandering(std::uint64_t seed, std::size_t count, double keeps) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<float> series;
  double value = 0;
  for (std::size_t at = 0; at < count; ++at) {
    value = keeps * value + normal(random);
    series.push_back(static_cast<float>(value));
  }
  return series;
}

TEST_CASE("independent values all count") {
  const auto size = effective_size(wandering(1, 20'000, 0));
  CHECK(size.inefficiency < 1.3);
  CHECK(size.count > 15'000);
}

TEST_CASE("dependent values have the effective size that theory predicts") {
  // (1 + a) / (1 - a) values make one.
  for (const double keeps : {0.5, 0.9, 0.98}) {
    CAPTURE(keeps);
    const auto size = effective_size(wandering(2, 200'000, keeps));
    const double theory = (1 + keeps) / (1 - keeps);
    CHECK(size.inefficiency > theory / 1.4);
    CHECK(size.inefficiency < theory * 1.4);
  }
}

TEST_CASE("packets behind a queue count as the theory of queues says") {
  // The theory for waiting times of M/M/1 (Blomqvist 1967).
  const auto theory = [](double load) {
    const double numerator = 2 + 5 * load - 4 * load * load + load * load * load;
    return numerator / ((2 - load) * (1 - load) * (1 - load));
  };
  for (const double load : {0.5, 0.8}) {
    CAPTURE(load);
    const auto made = make_queues(3, 400'000, load, 1);
    const auto size = effective_size(made.total);
    CHECK(size.inefficiency < 1.5 * theory(load));
    CHECK(size.inefficiency > theory(load) / 2.5);  // times in the system include one's own service
  }
}

TEST_CASE("too short a series gives no blocks") {
  CHECK_FALSE(independent_blocks(wandering(4, 20, 0), effective_size(wandering(4, 20, 0))));
  const auto busy = make_queues(5, 5'000, 0.9, 1);
  CHECK_FALSE(independent_blocks(busy.total, effective_size(busy.total)));
}

TEST_CASE("a series that drifts all the time says nothing about itself") {
  std::vector<float> series;
  for (unsigned at = 0; at < 10'000; ++at) series.push_back(static_cast<float>(at));
  const auto size = effective_size(series);
  CHECK(size.count < kMinBlocks * kBlockFactor);
  CHECK_FALSE(independent_blocks(series, size));
}

TEST_CASE("a constant is known from any part of it") {
  const std::vector<float> series(1000, 5.0F);
  CHECK(effective_size(series).count == 1000);
  CHECK(independent_blocks(series, effective_size(series)));
}

TEST_CASE("blocks do not overlap and are inside") {
  const auto series = wandering(6, 10'007, 0.5);
  const auto blocks = independent_blocks(series, effective_size(series));
  REQUIRE(blocks);
  CHECK(blocks->count <= kMaxBlocks);
  CHECK(blocks->count * blocks->length <= series.size());
  CHECK(blocks->of(series, blocks->count - 1).size() == blocks->length);
}

TEST_CASE("the interval of a difference of means holds the truth as often as it says") {
  unsigned held = 0;
  constexpr unsigned kTrials = 1000;
  std::mt19937_64 random(8);
  std::normal_distribution<double> few(10, 1);
  std::normal_distribution<double> many(13, 4);
  for (unsigned trial = 0; trial < kTrials; ++trial) {
    std::vector<double> left;
    std::vector<double> right;
    for (unsigned at = 0; at < 5; ++at) left.push_back(few(random));
    for (unsigned at = 0; at < 9; ++at) right.push_back(many(random));
    const auto one = mean_error(left);
    const auto other = mean_error(right);
    REQUIRE((one && other));
    const double half = half_interval_of_difference(*one, *other);
    held += std::abs(other->mean - one->mean - 3) <= half ? 1 : 0;
  }
  CHECK(held > 930);
  CHECK(held < 970);
}

TEST_CASE("quantiles are by nearest rank") {
  std::vector<float> values = {5, 1, 4, 2, 3};
  CHECK(quantile(values, 0.5) == 3);
  CHECK(quantile(values, 0.99) == 5);
  CHECK(quantile(values, 0) == 1);
  std::vector<float> none;
  CHECK(quantile(none, 0.5) == 0);
}

}  // namespace
}  // namespace sojourn::differential
