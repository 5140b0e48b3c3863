// Knees of curves whose caches are known.
#include "analysis/host/knee_finder.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

namespace sojourn::host {
namespace {

using Catch::Approx;

constexpr double kKilo = 1024;
constexpr double kMega = 1024 * kKilo;

struct Level {
  double bytes;
  double ns;
};

// A random walk over a working set: of each level's cache the share that fits is hit, the rest goes
// further down. `noise` is the largest deviation, with both signs in turns.
std::vector<CurvePoint> walk(const std::vector<Level>& levels, double last_ns, double to,
                             double noise = 0) {
  std::vector<CurvePoint> curve;
  double sign = noise;
  for (double size = 4 * kKilo; size <= to; size *= 2)
    for (const double bytes : {size, size * 1.5}) {
      double ns = 0;
      double left = 1;
      double below = 0;
      for (const Level& level : levels) {
        const double fits = std::min(1.0, level.bytes / bytes);
        const double here = std::max(0.0, fits - below);
        ns += here * level.ns;
        left -= here;
        below = std::max(below, fits);
      }
      ns += left * last_ns;
      sign = -sign;
      curve.push_back({.x = bytes, .y = ns * (1 + sign), .q1 = 0, .q3 = 0});
    }
  return curve;
}

TEST_CASE("three caches have three knees, at the caches' sizes") {
  const auto knees =
      find_knees(walk({{48 * kKilo, 1.2}, {kMega, 4}, {32 * kMega, 14}}, 95, 256 * kMega));
  REQUIRE(knees.size() == 3);
  CHECK(knees[0].x == 48 * kKilo);
  CHECK(knees[0].before == Approx(1.2));
  CHECK(knees[1].x == kMega);
  CHECK(knees[2].x == 32 * kMega);
  CHECK(knees[2].after > 60);
}

TEST_CASE("noise of five percent moves no knee by more than a step") {
  const auto knees =
      find_knees(walk({{48 * kKilo, 1.2}, {kMega, 4}, {32 * kMega, 14}}, 95, 256 * kMega, 0.05));
  REQUIRE(knees.size() == 3);
  CHECK(knees[0].x >= 32 * kKilo);
  CHECK(knees[0].x <= 64 * kKilo);
  CHECK(knees[1].x >= 0.75 * kMega);
  CHECK(knees[1].x <= 1.5 * kMega);
  CHECK(knees[2].x >= 24 * kMega);
  CHECK(knees[2].x <= 48 * kMega);
}

TEST_CASE("a machine with one cache has one knee") {
  const auto knees = find_knees(walk({{256 * kKilo, 2}}, 80, 64 * kMega));
  REQUIRE(knees.size() == 1);
  CHECK(knees[0].x == 256 * kKilo);
}

TEST_CASE("a flat curve, a slow rise and a dip have no knee") {
  std::vector<CurvePoint> flat;
  std::vector<CurvePoint> slow;
  std::vector<CurvePoint> dip;
  for (int step = 0; step < 20; ++step) {
    const double x = 4096 * std::exp2(step);
    flat.push_back({.x = x, .y = 3, .q1 = 0, .q3 = 0});
    slow.push_back({.x = x, .y = 3 * std::exp2(0.1 * step), .q1 = 0, .q3 = 0});
    dip.push_back({.x = x, .y = step == 9 ? 1.0 : 3.0, .q1 = 0, .q3 = 0});
  }
  CHECK(find_knees(flat).empty());
  CHECK(find_knees(slow).empty());
  CHECK(find_knees(dip).empty());
}

TEST_CASE("one outlier upwards is no knee") {
  std::vector<CurvePoint> curve;
  for (int step = 0; step < 20; ++step)
    curve.push_back({.x = 4096 * std::exp2(step), .y = step == 9 ? 4.0 : 3.0, .q1 = 0, .q3 = 0});
  CHECK(find_knees(curve).empty());
}

TEST_CASE("points that cannot be are left out") {
  CHECK(find_knees({}).empty());
  const std::vector<CurvePoint> few = {{.x = 1, .y = 1, .q1 = 0, .q3 = 0},
                                       {.x = 2, .y = 9, .q1 = 0, .q3 = 0}};
  CHECK(find_knees(few).empty());
  auto curve = walk({{256 * kKilo, 2}}, 80, 64 * kMega);
  curve.insert(curve.begin(), {.x = 0, .y = 5, .q1 = 0, .q3 = 0});
  curve.insert(curve.begin() + 4, {.x = 1, .y = 5, .q1 = 0, .q3 = 0});  // goes back
  curve.insert(curve.begin() + 6, {.x = 20000, .y = std::nan(""), .q1 = 0, .q3 = 0});
  const auto knees = find_knees(curve);
  REQUIRE(knees.size() == 1);
  CHECK(knees[0].x == 256 * kKilo);
}

}  // namespace
}  // namespace sojourn::host
