// Guards `sojourn record` against real-time threads that leave it no CPU: it warns before it
// attaches, and if allowed it drains with a priority above theirs, within a share of a CPU that the
// kernel enforces (SCHED_DEADLINE). One thread; the priority is that of the calling thread alone.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <span>
#include <string>
#include <thread>

#include <sys/types.h>

namespace sojourn::cli {

// `may_take_priority`: the user gave no priority. Threads and processes that are started later have
// normal priority.
void guard_against_starvation(std::span<const pid_t> pids, bool may_take_priority, bool is_quiet);

// Prints the reason of a wait that takes longer than two seconds. Lives as long as the wait.
class WaitTeller {
 public:
  WaitTeller(std::string what, bool is_quiet);
  ~WaitTeller();
  WaitTeller(const WaitTeller&) = delete;
  WaitTeller& operator=(const WaitTeller&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace sojourn::cli
