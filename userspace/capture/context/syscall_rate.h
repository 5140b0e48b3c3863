// How often this machine makes system calls, counted for a moment by a BPF program that does
// nothing else: recording them is paid by every process, so what it would take is known before.
// Plain function; what it attaches is gone when it returns.
#pragma once

#include <chrono>
#include <span>

#include <sys/types.h>

#include "analysis/base/result.h"

namespace sojourn::capture {

struct SyscallRate {
  double all_a_second = 0;         // of all processes
  double of_targets_a_second = 0;  // of these among them

  // Of the time of all of this machine's processors, while the calls are recorded.
  double share() const;
};

Result<SyscallRate> measure_syscalls(std::span<const pid_t> targets,
                                     std::chrono::milliseconds period);

}  // namespace sojourn::capture
