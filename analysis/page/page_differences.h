// The traits of some packets of a page's trace, compared with the rest, as in `sojourn why-slow
// --json`. A function without state.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/base/executor.h"
#include "analysis/base/result.h"
#include "analysis/differential/attribute_collector.h"
#include "analysis/pipeline/trace_input.h"
#include "analysis/pipeline/trace_pass.h"

namespace sojourn::page {

struct DifferenceQuestion {
  std::string text;  // the filter that `is_chosen` is made from
  differential::AttributeCollector::IsSlow is_chosen;
  pipeline::TracePass::Predicate keep;  // the packets to compare; empty: all
};

Result<nlohmann::ordered_json> differences(Executor& executor, pipeline::TraceInput& input,
                                           const DifferenceQuestion& question,
                                           const pipeline::Progress& progress);

}  // namespace sojourn::page
