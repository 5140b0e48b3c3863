#include "userspace/capture/post_mortem/orphaned_clock.h"

#include <cstdint>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::capture {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// A machine whose counter of 2.5 GHz and whose clocks began together, some time after `booted`.
struct Machine {
  std::uint64_t booted = 1'700'000'000 * kSecond;
  double drift = 0;

  std::uint64_t ns(std::uint64_t ticks) const {
    return static_cast<std::uint64_t>(static_cast<double>(ticks) * 0.4 * (1 + drift));
  }
  sj_clock_reading left(std::uint64_t ticks) const {
    return {.stamp = ticks,
            .ticks = 500,
            .monotonic_ns = ns(ticks),
            .realtime_ns = booted + ns(ticks),
            .tai_ns = booted + ns(ticks)};
  }
  CounterPair pair(std::uint64_t ticks) const { return {ticks, ns(ticks), 50}; }
  ReadingsNow now(std::uint64_t ticks) const {
    return {.first = pair(ticks - 125'000'000),
            .second = pair(ticks),
            .wall = {.monotonic_ns = ns(ticks),
                     .realtime_ns = booted + ns(ticks),
                     .tai_ns = 0,
                     .error_ns = 50}};
  }
};

constexpr std::uint64_t kTicks = 2'500'000'000;  // a second

std::uint64_t apart(std::uint64_t a, std::uint64_t b) {
  return a > b ? a - b : b - a;
}

TEST_CASE("on the machine that it ran on, one reading of the target's is enough") {
  const Machine machine{.drift = 3e-6};
  const auto clock = make_left_clock({.first = machine.left(100 * kTicks), .newest = {}},
                                     machine.now(9000 * kTicks));
  REQUIRE(clock);
  CHECK(clock->is_this_boot);
  for (const std::uint64_t second : {100, 500, 8999}) {
    const std::uint64_t ticks = second * kTicks;
    CHECK(apart(clock->clock.to_ns(ticks), machine.ns(ticks)) < 2000);
  }
  CHECK(clock->error_ns(machine.ns(8000 * kTicks)) < 100'000);
  CHECK(clock->pairs.size() == 2);
}

TEST_CASE("elsewhere the target's two readings are the clock, and the error grows behind them") {
  const Machine machine;
  Machine other = machine;
  other.booted += 3600 * kSecond;
  const auto clock =
      make_left_clock({.first = machine.left(100 * kTicks), .newest = machine.left(110 * kTicks)},
                      other.now(200 * kTicks));
  REQUIRE(clock);
  CHECK_FALSE(clock->is_this_boot);
  CHECK(apart(clock->clock.to_ns(150 * kTicks), machine.ns(150 * kTicks)) < 2000);
  const std::uint64_t soon = clock->error_ns(machine.ns(111 * kTicks));
  const std::uint64_t late = clock->error_ns(machine.ns(1110 * kTicks));
  CHECK(soon < 1000);
  CHECK(late > 10 * soon);
}

TEST_CASE("a clock that another machine's counter does not fit is not used") {
  const Machine machine;
  const Machine slower{.drift = 0.1};  // the same wall clock
  CHECK_FALSE(make_left_clock({.first = machine.left(100 * kTicks), .newest = {}},
                              slower.now(200 * kTicks)));
  const auto clock =
      make_left_clock({.first = machine.left(100 * kTicks), .newest = machine.left(101 * kTicks)},
                      slower.now(200 * kTicks));
  REQUIRE(clock);
  CHECK_FALSE(clock->is_this_boot);
}

TEST_CASE("readings that cannot be are refused or not used, and never divide by nothing") {
  const Machine machine;
  const ReadingsNow now = machine.now(200 * kTicks);
  CHECK_FALSE(make_left_clock({.first = {}, .newest = {}}, now));
  CHECK_FALSE(make_left_clock({.first = machine.left(300 * kTicks), .newest = {}}, now));
  sj_clock_reading wild{.stamp = UINT64_MAX,
                        .ticks = UINT64_MAX,
                        .monotonic_ns = UINT64_MAX,
                        .realtime_ns = UINT64_MAX,
                        .tai_ns = 0};
  CHECK_FALSE(make_left_clock({.first = wild, .newest = wild}, now));
  const auto clock = make_left_clock({.first = machine.left(kTicks), .newest = wild}, now);
  REQUIRE(clock);
  (void)clock->error_ns(0);
  (void)clock->error_ns(UINT64_MAX);
}

}  // namespace
}  // namespace sojourn::capture
