// Bounds for a forked child that works on untrusted input: files that may be forged, scripts. No
// state.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace sojourn::base {

struct Bounds {
  std::uint64_t more_memory_bytes = 0;  // besides what this process has already
  // The parent limits the processor time as well. This limit works when the parent is gone.
  std::optional<std::chrono::milliseconds> processor_time;
  int niceness = 0;
};

// Sets limits for this process. No core file is written of it.
void bound_this_process(const Bounds& bounds);

}  // namespace sojourn::base
