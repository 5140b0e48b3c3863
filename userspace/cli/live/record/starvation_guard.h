// Guards `sojourn record` against real-time threads that leave it no CPU: it warns before it
// attaches, and if allowed it drains with a priority above theirs, within a share of a CPU that the
// kernel enforces (SCHED_DEADLINE). It drains so, and nothing else: the kernel enforces the share
// at its ticks only, so a longer work than a drain's takes a CPU from the target for 4 ms at once.
// But where next to nothing is left of the CPUs, it begins and ends with that priority as well.
// One thread; the priority is that of the calling thread alone.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <thread>

#include <sys/types.h>

namespace sojourn::cli {

class StarvationGuard {
 public:
  // Looks, and says what it found. `may_take_priority`: the user gave no priority.
  StarvationGuard(std::span<const pid_t> pids, bool may_take_priority, bool is_quiet);

  bool takes_priority_to_drain() const { return takes_ == Takes::kToDrain; }
  // If it would starve, the calling thread has the priority in between. Beginning takes
  // CAP_SYS_NICE, ending takes nothing. Threads and processes that it starts have normal priority.
  void begin_drain() const;
  void end_drain() const;

 private:
  enum class Takes : std::uint8_t { kNever, kToDrain, kAllTheTime };
  int nice_ = 0;  // with normal priority
  Takes takes_ = Takes::kNever;
};

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
