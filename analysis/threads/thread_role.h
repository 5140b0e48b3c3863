// Guesses the role of a thread from its wakeups and from how it spends its time. Plain functions on
// a ThreadActivity.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/threads/thread_survey.h"

namespace sojourn::threads {

enum class ThreadRole : std::uint8_t {
  kIdle,      // it never ran, or waited all the time
  kPeriodic,  // by a timer, at regular intervals
  kTimed,     // by timers, at others
  kSocket,    // driven by packets
  kDriven,    // by other threads, which wake it
  kDevice,    // by interrupts
  kPolling,   // runs all the time and looks for work
  kBusy,      // runs all the time
  kMixed,     // by several of these
};
std::string_view name(
    ThreadRole role);  // idle periodic timed socket driven device polling busy mixed

struct RoleGuess {
  ThreadRole role = ThreadRole::kIdle;
  double share = 0;                        // of its wakeups that fit the role
  std::optional<std::uint64_t> period_ns;  // for periodic threads: the median
};

RoleGuess guess_role(const ThreadActivity& activity);

}  // namespace sojourn::threads
