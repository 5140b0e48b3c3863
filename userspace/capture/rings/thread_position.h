// Where a thread of a target is, as far as the kernel tells others. No state.
#pragma once

#include <cstdint>
#include <optional>

#include <sys/types.h>

#include "analysis/base/result.h"

namespace sojourn::capture {

struct ThreadPosition {
  std::uint64_t run_ns = 0;  // that it was on processors
  // Its next one. 0: it runs or waits to, which nobody is told more of, or may not be looked at.
  std::uint64_t instruction = 0;

  bool operator==(const ThreadPosition&) const = default;
};

// Of one that could be in the middle of a hit: it runs, waits to, or was stopped. A thread that
// sleeps is inside the kernel, not inside of a hit: nothing, as of one that has ended. The numbers
// are as we count.
std::optional<ThreadPosition> position_of_thread(pid_t pid, pid_t tid);

// Of a thread that does not run, with this process's own rights; 0: it runs.
Result<std::uint64_t> next_instruction(pid_t pid, pid_t tid);

}  // namespace sojourn::capture
