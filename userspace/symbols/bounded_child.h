// Runs work on files that may be forged in a child process with bounded time and memory: such files
// may make readers of debug information and demanglers hang or crash.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "analysis/base/result.h"

namespace sojourn::symbols {

// Returns the result of `work`, at most `max_bytes` long, which is as hostile as the files are.
// The child's processor time is bounded, not its duration: beside real-time threads a second of it
// may take minutes.
Result<std::string> run_in_bounded_child(const std::function<std::string()>& work,
                                         std::size_t max_bytes,
                                         std::chrono::milliseconds processor_time);

}  // namespace sojourn::symbols
