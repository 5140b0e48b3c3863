// The first events of a trace, as `sojourn events` lists them. A function without state.
#pragma once

#include <cstddef>
#include <cstdint>

#include <nlohmann/json_fwd.hpp>

#include "analysis/base/result.h"
#include "analysis/filter/event_filter.h"
#include "analysis/pipeline/rebuild.h"
#include "analysis/pipeline/trace_input.h"

namespace sojourn::page {

inline constexpr std::size_t kMostEvents = 10'000;

// Returns {"events": [{"time_ns": since the origin, "dir", "point", "tid", "thread", "values"}],
// "more"}, at most `limit` and kMostEvents of them. No filter: all events.
Result<nlohmann::ordered_json> first_events(pipeline::TraceInput& input, filter::EventFilter* where,
                                            std::uint64_t limit,
                                            const pipeline::Progress& progress);

}  // namespace sojourn::page
