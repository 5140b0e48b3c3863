#include "analysis/differential/host_clock.h"

#include <cmath>
#include <vector>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

namespace sojourn::differential {
namespace {

using Catch::Approx;

// A clock that is 1,000 ns ahead and goes `speed` times as fast: packets each second, both ways, of
// at least 10 us.
ClockMap map_of(double speed) {
  std::vector<Sighting> sightings;
  for (unsigned at = 0; at < 20; ++at) {
    const double now = 1e9 * at;
    sightings.push_back({now, 1000 + speed * (now + 10e3), true});
    sightings.push_back({now + 10e3, 1000 + speed * now, false});
  }
  return ClockMap::of(sightings, {.low = 1 - 500e-6, .high = 1 + 500e-6});
}

TEST_CASE("a clock's speed is by the first host's, whichever of the pair it is") {
  HostClock second;
  second.set_speeds(map_of(1 + 40e-6), true, nullptr);
  CHECK(second.drift.low < 1 + 40e-6);
  CHECK(second.drift.high > 1 + 40e-6);
  CHECK(second.rate.low == Approx(1 / second.drift.high).epsilon(1e-12));
  CHECK(second.rate.high == Approx(1 / second.drift.low).epsilon(1e-12));

  // In the pair of the second and a third one the third is the first of the two: the second goes
  // 100 ppm faster than it, so it goes 60 ppm slower than the first host's.
  HostClock third;
  third.set_speeds(map_of(1 + 100e-6), false, &second);
  CHECK(third.drift.low < 1 - 60e-6);
  CHECK(third.drift.high > 1 - 60e-6);
  CHECK(third.drift.high - third.drift.low < 10e-6);
  CHECK(third.rate.middle() == Approx(1 + 60e-6).margin(2e-6));
}

TEST_CASE("the error of a rate is how far the conversion may be from it, on average") {
  HostClock clock;
  clock.rate = {.low = 1 - 1e-6, .high = 1 + 3e-6};
  clock.knots = {{.theirs = 0, .ours = 500}, {.theirs = 1e9, .ours = 1e9 + 500}};
  CHECK(clock.rate_error() == Approx(3e-6));
  // Another second with 1,000 ns too many: off by the lower bound's 2 ppm.
  clock.knots.push_back({.theirs = 2e9, .ours = 2e9 + 1500});
  CHECK(clock.rate_error() == Approx(2.5e-6));
  clock.knots.resize(1);
  CHECK(clock.rate_error() == 0);
}

TEST_CASE("bounds are as wide as a step only around it") {
  HostClock clock;
  clock.rate = {.low = 1 - 1e-6, .high = 1 + 1e-6};
  for (unsigned at = 0; at < 10; ++at) {
    const double theirs = 50e6 * at;
    clock.knots.push_back({.theirs = theirs, .ours = theirs - (at >= 5 ? 7e6 : 0), .half = 30e3});
  }
  clock.widen_at_steps();
  for (std::size_t at = 0; at < clock.knots.size(); ++at) {
    CAPTURE(at);
    const bool is_at_step = at == 4 || at == 5;
    CHECK(clock.knots[at].half == Approx(is_at_step ? 7.06e6 : 30e3));
  }
  CHECK(clock.widest_half() == Approx(7.06e6));
}

}  // namespace
}  // namespace sojourn::differential
