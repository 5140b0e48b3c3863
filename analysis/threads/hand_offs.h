// Finds threads that hand work over to each other, by their wakeups. Plain computations on the
// figures of a survey.
#pragma once

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "analysis/statistics/distribution.h"
#include "analysis/threads/thread_survey.h"

namespace sojourn::threads {

// The use of a futex: "queue", "lock", or "futex" if it may be either.
std::string_view kind_of(const ThreadSurvey& survey, const FutexKey& futex);

// Threads that hand work over to each other by waiting for a futex: its edges together.
struct HandOff {
  FutexKey futex;
  std::string_view kind;  // queue, lock; futex: it may be either
  std::set<std::uint32_t> wakers;
  std::set<std::uint32_t> waiters;
  std::uint64_t count = 0;  // waits that a thread of any process ended
  statistics::Distribution delay_ns;
};
// The most frequent first.
std::vector<HandOff> hand_offs(const ThreadSurvey& survey);

}  // namespace sojourn::threads
