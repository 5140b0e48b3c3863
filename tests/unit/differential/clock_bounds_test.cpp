#include "analysis/differential/clock_bounds.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

namespace sojourn::differential {
namespace {

using Catch::Approx;

// By host 1's clock and host 2's, from host 1 and from host 2.
const std::vector<Sighting> kExample = {{1, 3, true},  {3, 5, true},  {4, 8, true},  {6, 7, true},
                                        {1, 1, false}, {3, 2, false}, {5, 4, false}, {6, 4, false}};

TEST_CASE("a worked example has its exact bounds") {
  const ClockMap map = ClockMap::of(kExample);
  REQUIRE(map.pieces().size() == 1);
  const ClockLines& lines = map.pieces().front().lines;
  CHECK(lines.count() == 8);
  CHECK(lines.drift().low == Approx(0.25));
  CHECK(lines.drift().high == Approx(1.2));
  CHECK(map.at(3.5).low == Approx(2.875));
  CHECK(map.at(3.5).high == Approx(5));
  CHECK(map.at(10).low == Approx(5.25));
  CHECK(map.at(10).high == Approx(11.8));
}

TEST_CASE("bounds are those of trying all lines") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(0, 1);
    std::vector<Sighting> sightings;
    for (unsigned at = 0; at < 12; ++at) {
      const double x = 10 * uniform(random);
      const bool is_from_us = uniform(random) < 0.5;
      const double delay = 3 * uniform(random);
      sightings.push_back({x, 2 + 0.9 * x + (is_from_us ? delay : -delay), is_from_us});
    }
    const ClockMap map = ClockMap::of(sightings);
    if (map.pieces().size() != 1 || !std::isfinite(map.pieces().front().lines.drift().low) ||
        !std::isfinite(map.pieces().front().lines.drift().high))
      continue;
    // A best line touches two packets.
    const auto is_possible = [&](double slope, double at_zero) {
      return std::ranges::all_of(sightings, [&](const Sighting& each) {
        const double over = slope * each.ours + at_zero - each.theirs;
        return each.is_from_us ? over <= 1e-9 : over >= -1e-9;
      });
    };
    for (const double x : {-3.0, 1.0, 5.0, 9.0, 20.0}) {
      CAPTURE(seed, x);
      Bounds tried = {.low = 1e9, .high = -1e9};
      for (const Sighting& one : sightings)
        for (const Sighting& other : sightings) {
          if (one.ours == other.ours) continue;
          const double slope = (other.theirs - one.theirs) / (other.ours - one.ours);
          const double at_zero = one.theirs - slope * one.ours;
          if (!is_possible(slope, at_zero)) continue;
          tried.low = std::min(tried.low, slope * x + at_zero);
          tried.high = std::max(tried.high, slope * x + at_zero);
        }
      CHECK(map.at(x).low == Approx(tried.low).margin(1e-6));
      CHECK(map.at(x).high == Approx(tried.high).margin(1e-6));
    }
  }
}

// Clocks in ns: theirs is 1 h ahead, 30 ppm fast, and steps by `step_ns` after 20 of 40 s. Packets
// queue, those from us for much longer.
struct World {
  double step_ns = 0;
  double clock(double ours) const {
    return ours * (1 + 30e-6) + 3.6e12 + (ours >= 20e9 ? step_ns : 0);
  }
  std::vector<Sighting> traffic(std::uint64_t seed, bool both_ways = true) const {
    std::mt19937_64 random(seed);
    std::exponential_distribution<double> gap(1 / 5e6);
    std::exponential_distribution<double> queue_there(1 / 400e3);
    std::exponential_distribution<double> queue_back(1 / 60e3);
    std::vector<Sighting> sightings;
    for (double now = 0; now < 40e9; now += gap(random)) {
      sightings.push_back({now, clock(now + 50e3 + queue_there(random)), true});
      if (!both_ways) continue;
      const double sent = now + 1e6;
      sightings.push_back({sent + 20e3 + queue_back(random), clock(sent), false});
    }
    return sightings;
  }
};

const Bounds kCrystals = {.low = 1 - 500e-6, .high = 1 + 500e-6};

double held_share(const World& world, const ClockMap& map, double until_ns = 40e9) {
  unsigned held = 0;
  constexpr unsigned kInstants = 4000;
  for (unsigned at = 0; at < kInstants; ++at) {
    const double now = until_ns * at / kInstants;
    const Bounds bounds = map.at(now);
    held += bounds.low <= world.clock(now) && world.clock(now) <= bounds.high ? 1 : 0;
  }
  return static_cast<double>(held) / kInstants;
}

TEST_CASE("bounds hold the truth through offset, drift, a step and asymmetric queues") {
  for (const double step_ns : {0.0, 5e6, -5e6, 300e3}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      CAPTURE(step_ns, seed);
      const World world = {.step_ns = step_ns};
      const ClockMap map = ClockMap::of(world.traffic(seed), kCrystals);
      CHECK(map.pieces().size() == (step_ns == 0 ? 1 : 2));
      CHECK(held_share(world, map) >= 0.99);
      // Delays are at least 50 and 20 us: no bound can be narrower than half of their sum.
      CHECK(map.at(10e9).half() > 30e3);
      CHECK(map.at(10e9).half() < 60e3);
      CHECK(map.pieces().front().lines.drift().low < 1 + 30e-6);
      CHECK(map.pieces().front().lines.drift().high > 1 + 30e-6);
      const Bounds back = map.ours_at(world.clock(10e9));
      CHECK(back.low <= 10e9 + 1);
      CHECK(back.high >= 10e9 - 1);
      CHECK(back.half() < 60e3);
    }
  }
}

TEST_CASE("packets of one direction leave the offset open") {
  const World world;
  const ClockMap map = ClockMap::of(world.traffic(1, false), kCrystals);
  REQUIRE(map.pieces().size() == 1);
  CHECK(std::isfinite(map.at(1e9).high));
  CHECK_FALSE(std::isfinite(map.at(1e9).low));
  CHECK_FALSE(std::isfinite(map.ours_at(world.clock(1e9)).low));
  CHECK(ClockMap::of({}).pieces().empty());
  CHECK_FALSE(std::isfinite(ClockMap::of({}).at(0).low));
}

TEST_CASE("one packet that was taken for another is stray, and no step") {
  const World world;
  auto sightings = world.traffic(2);
  const auto at = sightings.size() / 2;
  sightings.insert(sightings.begin() + static_cast<std::ptrdiff_t>(at),
                   {sightings[at].ours, world.clock(sightings[at].ours) - 1e9, true});
  const ClockMap map = ClockMap::of(sightings, kCrystals);
  CHECK(map.stray() >= 1);
  CHECK(held_share(world, map) >= 0.99);
}

TEST_CASE("three hosts in a circle agree where each pair's bounds are right") {
  // 1 to 2 by +5, 2 to 3 by -3, 3 to 1 by -2: the sum is 0.
  const auto shifted = [](double by, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> delay(0.1, 1);
    std::vector<Sighting> sightings;
    for (unsigned at = 0; at < 100; ++at) {
      const double now = at;
      sightings.push_back({now, now + by + delay(random), true});
      sightings.push_back({now + delay(random), now + by, false});
    }
    return ClockMap::of(sightings, kCrystals);
  };
  const ClockMap first = shifted(5, 1);
  const ClockMap second = shifted(-3, 2);
  const ClockMap third = shifted(-2, 3);
  for (const double now : {10.0, 50.0, 90.0}) {
    const Bounds two = first.at(now);
    const double low = third.at(second.at(two.low).low).low;
    const double high = third.at(second.at(two.high).high).high;
    CHECK(low <= now);
    CHECK(high >= now);
  }
}

}  // namespace
}  // namespace sojourn::differential
