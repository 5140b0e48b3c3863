#include "userspace/capture/post_mortem/orphaned_clock.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "userspace/base/clock.h"

namespace sojourn::capture {

namespace {

// A clock that is being adjusted runs up to 500 ppm faster or slower than the counter, and the
// counter's frequency is known to the same accuracy.
constexpr double kMaxDrift = 1e-3;

// Two boots are farther apart than this. A wall clock that was stepped by more is not comparable.
constexpr double kSameWallNs = 2e9;

double span(std::uint64_t from, std::uint64_t to) {
  return static_cast<double>(static_cast<std::int64_t>(to - from));
}

double ns_per_tick(const CounterPair& from, const CounterPair& to) {
  return span(from.ns, to.ns) / span(from.ticks, to.ticks);
}

// `rate`: nanoseconds of a tick, roughly.
CounterPair pair_of(const sj_clock_reading& reading, double rate) {
  const double error = static_cast<double>(reading.ticks) / 2 * rate;
  return {.ticks = reading.stamp,
          .ns = reading.monotonic_ns,
          .error_ns = static_cast<std::uint64_t>(std::clamp(error, 0.0, 1e18))};
}

model::ClockPair wall_of(const sj_clock_reading& reading, double rate) {
  return {.monotonic_ns = reading.monotonic_ns,
          .realtime_ns = reading.realtime_ns,
          .tai_ns = reading.tai_ns,
          .error_ns = 2 * pair_of(reading, rate).error_ns};
}

// Returns whether counter, clock and wall clock all went on from that reading to now.
bool is_this_boot(const sj_clock_reading& first, const ReadingsNow& now, double rate_now) {
  if (first.stamp >= now.second.ticks || first.monotonic_ns >= now.second.ns) return false;
  const double rate = ns_per_tick(pair_of(first, rate_now), now.second);
  const double booted_then = span(first.monotonic_ns, first.realtime_ns);
  const double booted_now = span(now.wall.monotonic_ns, now.wall.realtime_ns);
  return std::abs(rate / rate_now - 1) < kMaxDrift &&
         std::abs(booted_now - booted_then) < kSameWallNs;
}

}  // namespace

ReadingsNow read_clocks_now() {
  ReadingsNow now{.first = read_counter_pair(), .second = {}, .wall = {}};
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  now.second = read_counter_pair();
  now.wall = base::read_clock_pair();
  return now;
}

std::uint64_t OrphanedClock::error_ns(std::uint64_t ts_ns) const {
  std::uint64_t beyond = 0;
  if (ts_ns < sure_from_ns) beyond = sure_from_ns - ts_ns;
  if (ts_ns > sure_until_ns) beyond = ts_ns - sure_until_ns;
  if (beyond == 0 && sure_until_ns != 0)  // between the readings the line is off most in the middle
    beyond = std::min(ts_ns - sure_from_ns, sure_until_ns - ts_ns);
  return reading_error_ns +
         static_cast<std::uint64_t>(uncertain_slope * static_cast<double>(beyond));
}

Result<OrphanedClock> make_left_clock(const OrphanedReadings& left, const ReadingsNow& now) {
  if (left.first.stamp == 0)
    return fail("there is no reading of the clocks in it, so its stamps mean no time");
  const double rate_now = ns_per_tick(now.first, now.second);
  const bool same_boot = is_this_boot(left.first, now, rate_now);
  // On another machine the rate is known from the target's two readings only.
  const bool has_newest = left.newest && left.newest->stamp > left.first.stamp &&
                          left.newest->monotonic_ns > left.first.monotonic_ns &&
                          (!same_boot || left.newest->monotonic_ns < now.second.ns);
  if (!same_boot && !has_newest)
    return fail(
        "it was not made since this machine was started, and has one reading of the clocks only: "
        "its stamps mean no time");
  const double rate = same_boot ? rate_now
                                : span(left.first.monotonic_ns, left.newest->monotonic_ns) /
                                      span(left.first.stamp, left.newest->stamp);
  const CounterPair first = pair_of(left.first, rate);
  const CounterPair second = same_boot ? now.second : pair_of(*left.newest, rate);
  OrphanedClock made{.clock = RingClock(first, second),
                     .is_this_boot = same_boot,
                     .pairs = {wall_of(left.first, rate)},
                     .sure_from_ns = first.ns,
                     .sure_until_ns = second.ns,
                     .reading_error_ns = std::max(first.error_ns, second.error_ns)};
  if (has_newest) made.pairs.push_back(wall_of(*left.newest, rate));
  if (same_boot) made.pairs.push_back(now.wall);
  // The clock's rate is being steered: the rate now, compared with the average, shows by how much.
  // For another machine only the uncertainty of the two readings is known.
  const double uncertain =
      same_boot ? std::abs(ns_per_tick(first, second) / rate_now - 1)
                : static_cast<double>(first.error_ns + second.error_ns) / span(first.ns, second.ns);
  made.uncertain_slope = std::min(uncertain, 1.0);
  return made;
}

}  // namespace sojourn::capture
