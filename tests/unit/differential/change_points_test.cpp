// Change points of short series: their places, false alarms, and the limits of few values.
#include "analysis/differential/change_points.h"

#include <array>
#include <random>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

namespace sojourn::differential {
namespace {

using Catch::Approx;

TEST_CASE("a step is found at its place, with the levels on both sides") {
  const std::array series = {10.0, 11.0, 10.5, 9.8, 10.2, 15.0, 15.4, 14.9, 15.2, 15.1};
  const auto found = change_points(series, 0.05);
  REQUIRE(found.size() == 1);
  CHECK(found[0].at == 5);
  CHECK(found[0].before == Approx(10.2));
  CHECK(found[0].after == Approx(15.1));
  CHECK(found[0].p < 0.02);
}

TEST_CASE("two steps in one direction are two changes") {
  std::vector<double> series;
  for (int at = 0; at < 30; ++at) series.push_back(at / 10 * 50 + at * 7 % 5);
  const auto found = change_points(series, 0.05);
  REQUIRE(found.size() == 2);
  CHECK(found[0].at == 10);
  CHECK(found[1].at == 20);
  CHECK(found[1].after > found[1].before);
}

TEST_CASE("one outlier is no change of level, and neither are values that are all equal") {
  CHECK(change_points(std::array{1.0, 2.0, 1.5, 90.0, 1.2, 1.8, 1.1, 1.9}, 0.05).empty());
  CHECK(change_points(std::vector<double>(20, 7.0), 0.05).empty());
}

TEST_CASE("too few values never show a change, and the required number is known") {
  CHECK(change_points(std::array{1.0, 1.0, 1.0, 9.0, 9.0}, 0.5).empty());
  const std::size_t needed = values_for_change(0.05);
  CHECK(needed >= kFewestForChange);
  CHECK(needed <= 10);
  CHECK(values_for_change(0.001) > needed);
}

TEST_CASE("among many series without a change about one in twenty is called changed") {
  std::minstd_rand random(5);
  std::normal_distribution<double> noise;
  int alarms = 0;
  constexpr int kSeries = 200;
  for (int series = 0; series < kSeries; ++series) {
    std::array<double, 7> values{};
    for (double& value : values) value = noise(random);
    alarms += change_points(values, 0.05).empty() ? 0 : 1;
  }
  CHECK(alarms <= 20);  // 10 are expected; 20 is three standard deviations above
}

}  // namespace
}  // namespace sojourn::differential
