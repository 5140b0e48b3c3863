// Times of cycle stamps: interpolation, error bounds, and clocks that go back.
#include "analysis/xlap/cycle_times.h"

#include <cmath>
#include <random>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::xlap {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kBegin = 1'700'000'000 * kSecond;

// A counter of 2.4 GHz whose speed swings by 20 ppm, and a clock of whole microseconds.
std::uint64_t cycles_at(double since_s) {
  return static_cast<std::uint64_t>(2.4e9 * since_s + 48'000 * std::sin(since_s / 10));
}

std::uint64_t clock_at(double since_s) {
  const auto ns = static_cast<std::uint64_t>(since_s * 1e9);
  return kBegin + ns / 1000 * 1000;
}

std::vector<Instant> instants(double seconds, double apart_s) {
  std::vector<Instant> all;
  for (double now = 0.001; now < seconds; now += apart_s)
    all.push_back({.cycles = cycles_at(now), .unix_ns = clock_at(now)});
  return all;
}

TEST_CASE("times between instants hold within the bound, which is close to the real error") {
  const CycleTimes times(instants(60, 0.5));
  REQUIRE(times.ready());
  REQUIRE(times.bound_ns());
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> when(0.001, 59);
  double furthest = 0;
  for (unsigned at = 0; at < 10'000; ++at) {
    const double now = when(random);
    const auto told = times.unix_ns(cycles_at(now));
    REQUIRE(told);
    const double truth = static_cast<double>(kBegin % kSecond) + now * 1e9;
    const double off = std::abs(static_cast<double>(*told - kBegin) - truth);
    furthest = std::max(furthest, off);
  }
  CHECK(furthest <= static_cast<double>(*times.bound_ns()));
  CHECK(static_cast<double>(*times.bound_ns()) < 6 * furthest);
  CHECK(*times.bound_ns() < 50'000);
}

TEST_CASE("instants that are near to each other are not used, but for the first and the last") {
  const CycleTimes times(instants(1, 0.001));
  CHECK(times.used() >= 90);
  CHECK(times.used() <= 102);
  const CycleTimes brief(instants(0.005, 0.001));
  CHECK(brief.used() == 2);
  CHECK(brief.ready());
  CHECK_FALSE(brief.bound_ns());
  CHECK_FALSE(brief.is_outside(cycles_at(0.0035)));
  CHECK(brief.is_outside(cycles_at(0.5)));
}

TEST_CASE("a clock that goes back is left out, and fewer than two instants give nothing") {
  auto some = instants(10, 0.5);
  some[7].unix_ns -= 3 * kSecond;
  const CycleTimes times(some);
  CHECK(times.odd() == 1);
  CHECK(times.used() == some.size() - 1);
  CHECK_FALSE(CycleTimes({}).ready());
  CHECK_FALSE(CycleTimes({{.cycles = 5, .unix_ns = kBegin}}).ready());
}

}  // namespace
}  // namespace sojourn::xlap
