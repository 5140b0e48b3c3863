// Finds the real-time threads of processes, and whether they can take all CPUs that this process
// may run on: then a tracer of normal priority gets only the time that the kernel's throttling
// leaves. Read from the scheduler now. No state.
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
  std::vector<std::size_t> cpus;  // CPUs that it may run on

  std::string title() const;  // "main_pool#0 (FIFO 96)"
};

struct Starvation {
  std::size_t cpus = 0;  // on which this process may run, all of which may be taken at once
  std::vector<RealTimeThread> threads;  // threads that may take them, the most urgent first
  double share = 0;                     // of these CPUs' time, during the measurement
};

// Returns whether the threads can run on all of the CPUs at the same time.
bool can_take_all(std::span<const std::size_t> cpus, std::span<const RealTimeThread> threads);

// Nothing if at least one CPU is always left, or if the threads take less than half of all.
std::optional<Starvation> find_starvation(std::span<const pid_t> pids,
                                          std::chrono::milliseconds look);

}  // namespace sojourn::tracee
