// `sojourn list --suggest`: drafts a map. No state.
#pragma once

#include <chrono>

#include <sys/types.h>

#include "analysis/base/result.h"

namespace sojourn::cli {

// Prints a map to stdout, and progress and the functions that were left out to stderr. `timeout`:
// for functions that are called seldom.
Result<void> suggest_map(pid_t pid, std::chrono::milliseconds timeout);

}  // namespace sojourn::cli
