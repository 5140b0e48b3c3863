// The deadline of each direction by which packets are late: what was given on the command line, or
// what the slowest hundredth of each direction took. The trace may be read for that.
#pragma once

#include "analysis/base/executor.h"
#include "analysis/base/result.h"
#include "analysis/causes/explainer.h"
#include "analysis/pipeline/trace_input.h"
#include "userspace/cli/deadline_option.h"
#include "userspace/cli/progress.h"

namespace sojourn::cli {

// Where the deadline is in what happened, everything is read twice.
inline bool is_deadline_searched(const DeadlineOption& deadline) {
  return !deadline.given() || deadline.asks_events();
}

// `wanted`: which packets count; empty: all.
Result<causes::Deadlines> find_deadlines(const DeadlineOption& deadline,
                                         pipeline::TraceInput& input, Executor& executor,
                                         const causes::Explainer::Wanted& wanted,
                                         ProgressLine& line);

}  // namespace sojourn::cli
