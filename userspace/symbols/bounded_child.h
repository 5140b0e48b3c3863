// Work on files that may be forged, in a child of its own with bounded time and memory: what reads
// debug information or takes names apart may be led astray by them, for ever or into its death.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

#include "analysis/base/result.h"

namespace sojourn::symbols {

// What `work` returns there, at most `max_bytes` long. The answer is as hostile as the files are.
// It is the child's processor time that is bounded: beside real-time threads it may take minutes to
// get a second of it.
Result<std::string> run_in_bounded_child(const std::function<std::string()>& work,
                                         std::size_t max_bytes,
                                         std::chrono::milliseconds processor_time);

}  // namespace sojourn::symbols
