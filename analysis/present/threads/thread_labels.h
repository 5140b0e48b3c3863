// Words that the text, the JSON and the graph of a program's threads share.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/threads/thread_role.h"
#include "analysis/threads/thread_survey.h"

namespace sojourn::present {

// "every 1.00 ms by a timer (clock_nanosleep)", "woken by pdcp 87 %, mac 10 %"
std::string role_label(const threads::ThreadSurvey& survey, std::uint32_t tid);

// "futex 0x7f20", "recvfrom udp 127.0.0.1:2152", "no system call"; "-" where none were recorded.
std::string wait_channel_label(const threads::ThreadSurvey& survey, std::uint32_t tid,
                               const threads::WaitChannel& channel);

// "timer", "network", or a thread's name.
std::string waker_label(const threads::ThreadSurvey& survey, const threads::WakeupEdgeKey& key);

// "reader -> worker -> sender"
std::string path_label(const threads::ThreadSurvey& survey, const threads::PathKey& path);

}  // namespace sojourn::present
