// The walls around a worker: it keeps one connection and memory, and may call nothing that reaches
// anything else. The kernel kills a worker that tries.
#pragma once

#include <cstdint>

#include "analysis/base/result.h"

namespace sojourn::scripts {

// For the calling process, for good. `connection` is the one descriptor that stays open. An error
// where this kernel has no such walls: then no script is to run.
Result<void> enter_sandbox(int connection, std::uint64_t max_bytes);

}  // namespace sojourn::scripts
