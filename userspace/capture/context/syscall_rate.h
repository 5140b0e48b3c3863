// Counts for a moment how often this machine makes system calls, by a BPF program that does nothing
// else. Every process pays for recording them, so the cost is estimated before. A plain function:
// it has detached everything when it returns.
#pragma once

#include <chrono>
#include <span>

#include <sys/types.h>

#include "analysis/base/result.h"

namespace sojourn::capture {

struct SyscallRate {
  double all_a_second = 0;         // of all processes
  double of_targets_a_second = 0;  // of these among them

  // The share of all of this machine's CPU time that recording the calls would take.
  double share() const;
};

Result<SyscallRate> measure_syscalls(std::span<const pid_t> targets,
                                     std::chrono::milliseconds period);

}  // namespace sojourn::capture
