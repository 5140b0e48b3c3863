// The ids by which people know some packets, for a list of them. A function without state.
#pragma once

#include <cstdint>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/base/executor.h"
#include "analysis/base/result.h"
#include "analysis/pipeline/trace_input.h"
#include "analysis/pipeline/trace_pass.h"

namespace sojourn::page {

// Returns {"ue", "bearer", "number"}: an array each, with a text for each of `ids` in their order,
// such as "rnti 0x4601", "drb 1", "psn 17". They are the ids that `sojourn journeys` writes beside
// the packet: "ue" has the global ones, "number" those that are neither. A text is empty where the
// packet has none, or where there is no such packet. The pass ends when all were found. Only these
// packets' steps are gathered, so it costs less than a row for each packet.
Result<nlohmann::ordered_json> ids_of_packets(Executor& executor, pipeline::TraceInput& input,
                                              const std::vector<std::uint64_t>& ids,
                                              const pipeline::Progress& progress);

}  // namespace sojourn::page
