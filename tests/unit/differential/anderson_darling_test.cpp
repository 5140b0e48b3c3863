// Against the examples that Scholz and Stephens published, and R's package kSamples.
#include "analysis/differential/anderson_darling.h"

#include <cmath>
#include <random>
#include <vector>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

namespace sojourn::differential {
namespace {

using Catch::Approx;
using Values = std::vector<std::vector<double>>;

const Values kPaper = {{38.7, 41.5, 43.8, 44.5, 45.5, 46.0, 47.7, 58.0},
                       {39.2, 39.3, 39.7, 41.4, 41.8, 42.9, 43.3, 45.8},
                       {34.0, 35.0, 39.0, 40.0, 43.0, 43.0, 44.0, 45.0},
                       {34.0, 34.8, 34.8, 35.4, 37.2, 37.8, 41.2, 42.8}};

const Values kAirConditioning = {
    {194, 15, 41, 29, 33, 181},
    {413, 14, 58, 37, 100, 65, 9, 169, 447, 184, 36, 201, 118},
    {34, 31, 18, 18, 67, 57, 62, 7, 22, 34},
    {90, 10, 60, 186, 61, 49,  14,  24, 56, 20, 79, 84,
     44, 59, 29, 118, 25, 156, 310, 76, 26, 44, 23, 62},
    {130, 208, 70, 101, 208},
    {74, 57, 48, 29, 502, 12, 70, 21, 29, 386, 59, 27},
    {55, 320, 56, 104, 220, 239, 47, 246, 176, 182, 33},
    {23, 261, 87, 7, 120, 14, 62, 47, 225, 71, 246, 21, 42, 20, 5,
     12, 120, 11, 3, 14,  71, 11, 14, 11,  16, 90,  1,  16, 52, 95},
    {97, 51, 11, 4,   141, 18,  142, 68, 77, 80,  1,  16,  106, 206,
     82, 54, 31, 216, 46,  111, 39,  63, 18, 191, 18, 163, 24},
    {50, 44, 102, 72, 22, 39,  3,   15, 197, 188, 79, 88,
     46, 5,  5,   36, 22, 139, 210, 97, 30,  23,  13, 14},
    {359, 9, 12, 270, 603, 3, 104, 2, 438},
    {50, 254, 5, 283, 35, 12},
    {487, 18, 100, 7, 98, 5, 85, 91, 43, 230, 3, 130},
    {102, 209, 14, 57, 54, 32, 67, 59, 134, 152, 27, 14, 230, 66, 61, 34}};

TEST_CASE("the smoothness of paper from four laboratories gives the published figures") {
  const auto found = anderson_darling(kPaper);
  REQUIRE(found);
  CHECK(found->continuous == Approx(8.3559).margin(5e-5));
  CHECK(found->midrank == Approx(8.39).margin(5e-3));  // published with three digits
  CHECK(found->standardised(found->continuous) == Approx(4.449).margin(5e-4));
  CHECK(found->standardised(found->midrank) == Approx(4.480).margin(5e-4));
  const PValue p = p_value(kPaper, *found);
  CHECK_FALSE(p.is_exact);
  CHECK(p.continuous == Approx(0.0023).margin(3e-4));
  CHECK(p.midrank == Approx(0.0022).margin(3e-4));
}

TEST_CASE("fourteen air conditioners give the published figures") {
  const auto found = anderson_darling(kAirConditioning);
  REQUIRE(found);
  CHECK(found->continuous == Approx(21.695).margin(5e-4));
  CHECK(found->midrank == Approx(21.7).margin(5e-2));  // published with three digits
  CHECK(found->standardised(found->continuous) == Approx(3.288).margin(5e-4));
  CHECK(found->standardised(found->midrank) == Approx(3.294).margin(5e-4));
}

TEST_CASE("small samples with ties have their exact chance by all ways to deal them out") {
  const Values values = {{1, 2, 2, 5}, {2, 3, 6, 6}};
  const auto found = anderson_darling(values);
  REQUIRE(found);
  CHECK(found->continuous == Approx(1.2929).margin(5e-5));
  CHECK(found->midrank == Approx(1.78).margin(5e-3));  // published with three digits
  const PValue p = p_value(values, *found);
  CHECK(p.is_exact);
  CHECK(p.continuous == Approx(0.25714).margin(5e-6));
  CHECK(p.midrank == Approx(0.2).margin(5e-6));
}

TEST_CASE("the limit distribution has the published tails") {
  CHECK(anderson_darling_limit(2.492, 1) == Approx(0.05002).margin(5e-6));
  CHECK(anderson_darling_limit(3.878, 1) == Approx(0.01000).margin(5e-6));
  // Critical values of the paper's table 1, for T: of m = 1, 3 and 10.
  const auto of_t = [](double t, std::size_t order) {
    const auto m = static_cast<double>(order);
    const double pi = 3.14159265358979323846;
    return anderson_darling_limit(m + t * std::sqrt(2 * m * (pi * pi / 3 - 3)), order);
  };
  CHECK(of_t(0.326, 1) == Approx(0.25).margin(2e-3));
  CHECK(of_t(1.960, 1) == Approx(0.05).margin(2e-3));
  CHECK(of_t(3.752, 1) == Approx(0.01).margin(1e-3));
  CHECK(of_t(1.915, 3) == Approx(0.05).margin(2e-3));
  CHECK(of_t(1.809, 10) == Approx(0.05).margin(2e-3));
}

TEST_CASE("the limit distribution falls from one to nothing, far beyond any table") {
  for (const std::size_t order : {1U, 2U, 5U, 13U, 60U}) {
    CAPTURE(order);
    CHECK(anderson_darling_limit(0, order) == 1);
    double before = 1;
    for (double a2 = 0.05; a2 < 40 + 3.0 * static_cast<double>(order); a2 *= 1.2) {
      const double p = anderson_darling_limit(a2, order);
      CHECK(p <= before + 1e-9);
      CHECK(p >= kLeastLimitP);
      before = p;
    }
    CHECK(before == kLeastLimitP);
  }
  // The tail of one such sum falls like that of its first term, chi-square with half its weight.
  const double step = anderson_darling_limit(11, 1) / anderson_darling_limit(10, 1);
  CHECK(step == Approx(std::exp(-1.0)).margin(0.03));
}

TEST_CASE("the limit agrees with the exact chance where both are known") {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (unsigned trial = 0; trial < 5; ++trial) {
    Values values(2);
    for (auto& sample : values)
      for (unsigned at = 0; at < 8; ++at) sample.push_back(uniform(random));
    const auto found = anderson_darling(values);
    REQUIRE(found);
    const PValue exact = p_value(values, *found);
    const PValue limit = p_value(values, *found, 0);
    CHECK(exact.is_exact);
    CHECK_FALSE(limit.is_exact);
    CHECK(limit.continuous == Approx(exact.continuous).margin(0.05));
  }
}

TEST_CASE("the power of a number of runs is known before") {
  CHECK(smallest_p(3, 3, true) == Approx(0.05));
  CHECK(smallest_p(3, 3, false) == Approx(0.1));
  // Thirty segments by Holm.
  CHECK(30 * smallest_p(5, 5, true) > 0.05);
  CHECK(30 * smallest_p(6, 6, true) < 0.05);
  CHECK(30 * smallest_p(6, 6, false) > 0.05);
  CHECK(30 * smallest_p(7, 7, false) < 0.05);
  const Values apart = {{1, 2, 3}, {4, 5, 6}};
  CHECK(p_value(apart, *anderson_darling(apart)).midrank == Approx(0.1));
}

TEST_CASE("empty samples have no statistic, equal ones have no difference") {
  CHECK_FALSE(anderson_darling(Values{}));
  CHECK_FALSE(anderson_darling(Values{{1, 2}}));
  CHECK_FALSE(anderson_darling(Values{{1, 2}, {}}));
  const Values equal = {{4, 4, 4}, {4, 4}};
  const auto found = anderson_darling(equal);
  REQUIRE(found);
  CHECK(found->continuous == 0);
  CHECK(found->midrank == 0);
  CHECK(p_value(equal, *found).midrank == 1);
  const std::vector<double> many(100, 4.0);
  const Values much = {many, many};
  CHECK(p_value(much, *anderson_darling(much)).midrank == 1);
}

}  // namespace
}  // namespace sojourn::differential
