// The functions that the target spent its CPU time in, as `sojourn profile --json` lists them, and
// the stacks for a flame graph. A function without state.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "analysis/base/executor.h"
#include "analysis/base/result.h"
#include "analysis/pipeline/rebuild.h"
#include "analysis/pipeline/trace_input.h"
#include "analysis/profile/sampled_work.h"

namespace sojourn::page {

// Returns the members of `sojourn profile --json`, and
//   "names":  [{"function", "module", "kernel"}]: the functions of stacks, and
//   "stacks": [{"hop", "tid", "functions", "ns", "samples"}]: "hop" is an index in "hops",
//             "functions" are indices in "names", the outermost caller first; empty if the stack is
//             not known.
// A trace without a profile: {"missing": why}.
Result<nlohmann::ordered_json> profile_of(Executor& executor, pipeline::TraceInput& input,
                                          profile::SampledWork::SampleFilter wanted,
                                          const pipeline::Progress& progress);

}  // namespace sojourn::page
