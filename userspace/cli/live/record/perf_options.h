// The options of `sojourn record` about perf events, counters and profile, and its messages.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "analysis/base/result.h"
#include "userspace/capture/api.h"
#include "userspace/cli/arguments.h"

namespace sojourn::cli {

struct PerfWanted {
  std::string counters;   // "page-faults,cycles"; empty: none
  std::string frequency;  // "999Hz"; empty: no profile
  std::string ring_size;
};

void add_perf_options(Arguments& arguments, PerfWanted& wanted);

// Adds the source, if one was asked for.
Result<void> want_perf(const PerfWanted& wanted, bool quiet,
                       std::optional<std::chrono::microseconds> poll, capture::Options& options);

}  // namespace sojourn::cli
