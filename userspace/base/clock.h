// The trace's clock, and its pairing with the wall clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>

#include "analysis/model/capture_info.h"

namespace sojourn::base {

inline std::uint64_t read_clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

inline std::uint64_t monotonic_ns() {
  return read_clock_ns(CLOCK_MONOTONIC);
}

// Reads both clocks. The pair is exact to error_ns. It is the narrowest of a few tries, because any
// try may be preempted.
inline model::ClockPair read_clock_pair() {
  model::ClockPair best{.error_ns = UINT64_MAX};
  for (int attempt = 0; attempt < 5; ++attempt) {
    const std::uint64_t before = monotonic_ns();
    const std::uint64_t realtime = read_clock_ns(CLOCK_REALTIME);
    const std::uint64_t tai = read_clock_ns(CLOCK_TAI);
    const std::uint64_t span = monotonic_ns() - before;
    if (span < best.error_ns) best = {before + span / 2, realtime, tai, span};
  }
  return best;
}

}  // namespace sojourn::base
