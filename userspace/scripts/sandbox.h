// Locks a worker in: it keeps one connection and its memory, and may make no system call that
// reaches anything else. The kernel kills a worker that tries.
#pragma once

#include <cstdint>

#include "analysis/base/result.h"

namespace sojourn::scripts {

// Locks the calling process in, for good. `connection` is the only descriptor that stays open.
// Fails if this kernel lacks the means; then no script may run.
Result<void> enter_sandbox(int connection, std::uint64_t max_bytes);

}  // namespace sojourn::scripts
