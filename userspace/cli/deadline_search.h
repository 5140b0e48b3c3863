// The deadline of each direction from which on packets are late: the one on the command line, or
// the limit of the slowest hundredth of each direction. The trace may be read to find it.
#pragma once

#include "analysis/base/executor.h"
#include "analysis/base/result.h"
#include "analysis/causes/explainer.h"
#include "analysis/pipeline/trace_input.h"
#include "userspace/cli/deadline_option.h"
#include "userspace/cli/progress.h"

namespace sojourn::cli {

// If the deadline depends on the events, everything is read twice.
inline bool is_deadline_searched(const DeadlineOption& deadline) {
  return !deadline.given() || deadline.asks_events();
}

// `wanted`: which packets count; empty: all.
Result<causes::Deadlines> find_deadlines(const DeadlineOption& deadline,
                                         pipeline::TraceInput& input, Executor& executor,
                                         const causes::Explainer::Wanted& wanted,
                                         ProgressLine& line);

}  // namespace sojourn::cli
