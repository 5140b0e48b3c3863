// Real-time threads of processes, and whether they can take all CPUs that this process may run on:
// a tracer of normal priority gets nothing then but what the kernel's throttling leaves. Read from
// the scheduler as of now. No state.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

namespace sojourn::tracee {

struct RealTimeThread {
  pid_t tid = 0;
  std::string name;
  int policy = 0;  // SCHED_FIFO, SCHED_RR or SCHED_DEADLINE
  int priority = 0;
  std::vector<std::size_t> cpus;  // that it may run on

  std::string title() const;  // "main_pool#0 (FIFO 96)"
};

struct Starvation {
  std::size_t cpus = 0;                 // of this process, all of which may be taken at once
  std::vector<RealTimeThread> threads;  // by whom, the most urgent first
  double share = 0;                     // of these CPUs that they took while they were looked at
};

// Whether each of the CPUs can have a thread of its own at the same time.
bool can_take_all(std::span<const std::size_t> cpus, std::span<const RealTimeThread> threads);

// None where some CPU always is left, or where they take less than half of all meanwhile.
std::optional<Starvation> find_starvation(std::span<const pid_t> pids,
                                          std::chrono::milliseconds look);

}  // namespace sojourn::tracee
