// `sojourn list --suggest`: a map to begin with. No state.
#pragma once

#include <chrono>

#include <sys/types.h>

#include "analysis/base/result.h"

namespace sojourn::cli {

// On stdout; on stderr how far it is, and what could not be in it. `timeout`: for functions that
// are called seldom.
Result<void> suggest_map(pid_t pid, std::chrono::milliseconds timeout);

}  // namespace sojourn::cli
