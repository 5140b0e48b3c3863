// CLOCK_MONOTONIC in nanoseconds, the clock of every stamp and timer here.
#pragma once

#include <cstdint>

#include <time.h>

namespace sojourn::basestation {

inline constexpr std::uint64_t kMillisecond = 1'000'000;

inline std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

inline void sleep_until_ns(std::uint64_t due_ns) {
  const timespec due{static_cast<time_t>(due_ns / 1'000'000'000U),
                     static_cast<long>(due_ns % 1'000'000'000U)};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr);
}

}  // namespace sojourn::basestation
