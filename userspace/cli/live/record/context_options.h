// The options of `sojourn record` about kernel context, and its messages.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "analysis/base/result.h"
#include "userspace/capture/api.h"
#include "userspace/cli/arguments.h"

namespace sojourn::cli {

struct ContextWanted {
  std::string families;  // "sched,irq"; empty: none
  std::string ring_size;
};

void add_context_options(Arguments& arguments, ContextWanted& wanted);

// Adds the source, if one was asked for.
Result<void> want_context(const ContextWanted& wanted, bool quiet,
                          std::optional<std::chrono::microseconds> poll, capture::Options& options);

}  // namespace sojourn::cli
