// Against R's cor.test on its data set mtcars: weight and mileage of 32 cars.
#include "analysis/differential/correlation.h"

#include <cmath>
#include <random>
#include <vector>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

namespace sojourn::differential {
namespace {

using Catch::Approx;

const std::vector<double> kMileage = {
    21,   21,   22.8, 21.4, 18.7, 18.1, 14.3, 24.4, 22.8, 19.2, 17.8, 16.4, 17.3, 15.2, 10.4, 10.4,
    14.7, 32.4, 30.4, 33.9, 21.5, 15.5, 15.2, 13.3, 19.2, 27.3, 26,   30.4, 15.8, 19.7, 15,   21.4};
const std::vector<double> kWeight = {2.62,  2.875, 2.32,  3.215, 3.44,  3.46, 3.57,  3.19,
                                     3.15,  3.44,  3.44,  4.07,  3.73,  3.78, 5.25,  5.424,
                                     5.345, 2.2,   1.615, 1.835, 2.465, 3.52, 3.435, 3.84,
                                     3.845, 1.935, 2.14,  1.513, 3.17,  2.77, 3.57,  2.78};

TEST_CASE("weight and mileage of cars have the published coefficients") {
  const auto straight = pearson(kWeight, kMileage);
  REQUIRE(straight);
  CHECK(straight->value == Approx(-0.8676594).margin(5e-8));
  CHECK(straight->low == Approx(-0.9338264).margin(5e-8));
  CHECK(straight->high == Approx(-0.7440872).margin(5e-8));
  const auto ranked = spearman(kWeight, kMileage);
  REQUIRE(ranked);
  CHECK(ranked->value == Approx(-0.886422).margin(5e-7));
  CHECK(ranked->low < ranked->value);
  CHECK(ranked->high > ranked->value);
}

TEST_CASE("equal values share the middle of their ranks") {
  CHECK(midranks(std::vector<double>{3, 1, 3, 3, 9}) == std::vector<double>{3, 1, 3, 3, 5});
}

TEST_CASE("a constant series has no coefficient") {
  const std::vector<double> same(5, 2);
  const std::vector<double> other = {1, 2, 3, 4, 5};
  CHECK_FALSE(pearson(same, other));
  CHECK_FALSE(spearman(other, same));
  CHECK_FALSE(pearson(std::vector<double>{1, 2, 3}, std::vector<double>{1, 2, 3}));
}

TEST_CASE("values in a line have the coefficient 1, however they are cut") {
  std::vector<float> x;
  std::vector<float> y;
  for (unsigned at = 0; at < 1000; ++at) {
    x.push_back(static_cast<float>(at % 37));
    y.push_back(2 * x.back() + 5);
  }
  const auto found = pearson(x, y, 10);
  REQUIRE(found);
  CHECK(found->value == Approx(1));
  CHECK(found->low == Approx(1));
}

TEST_CASE("blocks show how little information dependent pairs have") {
  // Both wander by themselves: packets as if independent would call every second pair related.
  unsigned by_packets = 0;
  unsigned by_blocks = 0;
  constexpr unsigned kTrials = 200;
  for (unsigned trial = 0; trial < kTrials; ++trial) {
    std::mt19937_64 random(trial);
    std::normal_distribution<double> normal;
    std::vector<double> x;
    std::vector<double> y;
    double at_x = 0;
    double at_y = 0;
    for (unsigned at = 0; at < 2000; ++at) {
      at_x = 0.9 * at_x + normal(random);
      at_y = 0.9 * at_y + normal(random);
      x.push_back(at_x);
      y.push_back(at_y);
    }
    const auto misses_zero = [](const std::optional<Correlation>& found) {
      REQUIRE(found);
      return found->low > 0 || found->high < 0;
    };
    by_packets += misses_zero(pearson(x, y)) ? 1 : 0;
    const std::vector<float> few_x(x.begin(), x.end());
    const std::vector<float> few_y(y.begin(), y.end());
    by_blocks += misses_zero(pearson(few_x, few_y, 16)) ? 1 : 0;
  }
  CHECK(by_packets > kTrials / 3);
  CHECK(by_blocks < kTrials / 10);
}

}  // namespace
}  // namespace sojourn::differential
