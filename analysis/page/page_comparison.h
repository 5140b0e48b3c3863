// The differences between the two traces of a page, as in `sojourn diff --json`. A function without
// state.
#pragma once

#include <functional>

#include <nlohmann/json_fwd.hpp>

#include "analysis/base/executor.h"
#include "analysis/base/result.h"
#include "analysis/journeys/journey.h"
#include "analysis/pipeline/trace_input.h"
#include "analysis/pipeline/trace_pass.h"

namespace sojourn::page {

struct ComparedTrace {
  pipeline::TraceInput& input;
  std::function<bool(const journeys::Journey&)> wanted;  // empty: all packets
};

Result<nlohmann::ordered_json> comparison(Executor& executor, const ComparedTrace& base,
                                          const ComparedTrace& now,
                                          const pipeline::Progress& progress);

}  // namespace sojourn::page
