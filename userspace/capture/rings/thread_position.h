// The position of a target's thread in its code, as far as the kernel shows it. No state.
#pragma once

#include <cstdint>
#include <optional>

#include <sys/types.h>

#include "analysis/base/result.h"

namespace sojourn::capture {

struct ThreadPosition {
  std::uint64_t run_ns = 0;  // its CPU time
  // Its next instruction. 0: not known, as it runs or waits for a CPU, or the rights are missing.
  std::uint64_t instruction = 0;

  bool operator==(const ThreadPosition&) const = default;
};

// The position of a thread that could be in the middle of a hit: it runs, waits for a CPU, or was
// stopped. Nothing for a thread that sleeps, as it is in the kernel and not in a hit, and for one
// that has ended. The ids are in our namespace.
std::optional<ThreadPosition> position_of_thread(pid_t pid, pid_t tid);

// The next instruction of a thread that does not run, by this process's own rights; 0: it runs.
Result<std::uint64_t> next_instruction(pid_t pid, pid_t tid);

}  // namespace sojourn::capture
