// Words that the text, the JSON and the graph of a program's threads share.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/statistics/distribution.h"
#include "analysis/threads/thread_role.h"
#include "analysis/threads/thread_survey.h"

namespace sojourn::report {

// "every 1.00 ms by a timer (clock_nanosleep)", "woken by pdcp 87 %, mac 10 %"
std::string role_label(const threads::ThreadSurvey& survey, std::uint32_t tid);

// "futex 0x7f20", "recvfrom udp 127.0.0.1:2152", "no system call"; "-" where none were recorded.
std::string wait_channel_label(const threads::ThreadSurvey& survey, std::uint32_t tid,
                               const threads::WaitChannel& channel);

// "timer", "network", or a thread's name.
std::string waker_label(const threads::ThreadSurvey& survey, const threads::WakeupEdgeKey& key);

// "reader -> worker -> sender"
std::string path_label(const threads::ThreadSurvey& survey, const threads::PathKey& path);

// Threads that hand work over to each other by waiting for a futex: its edges together.
struct HandOff {
  threads::FutexKey futex;
  std::string_view kind;  // queue lock; futex where it may be either
  std::set<std::uint32_t> wakers;
  std::set<std::uint32_t> waiters;
  std::uint64_t count = 0;  // waits that a thread of any process ended
  statistics::Distribution delay_ns;
};
// The most frequent first.
std::vector<HandOff> hand_offs(const threads::ThreadSurvey& survey);

}  // namespace sojourn::report
