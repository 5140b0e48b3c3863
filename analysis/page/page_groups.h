// The distributions of groups of packets, or of stays by hop or layer, as `sojourn report --by` and
// `--cdf json` have them, without a row for each packet. A function without state.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "analysis/base/executor.h"
#include "analysis/base/result.h"
#include "analysis/page/page_report.h"
#include "analysis/pipeline/trace_input.h"
#include "analysis/pipeline/trace_pass.h"
#include "analysis/report/groups.h"

namespace sojourn::page {

// Returns {"all": the number of groups, "groups": [{"dir", "name", "count", "min_ns", "max_ns",
// "percentiles_ns": as in the page's table, "points": [[ns, share that took longer, and its 95 %
// interval or null]]}]}. Only the groups with most packets are listed. Stays have no intervals.
Result<nlohmann::ordered_json> groups_of(Executor& executor, pipeline::TraceInput& input,
                                         report::By by, const PacketSelection& selection,
                                         const pipeline::Progress& progress);

}  // namespace sojourn::page
