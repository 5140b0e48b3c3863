// Rebuilds the journeys of a whole trace file, with a word on how far it is. Nobody else may use
// the reader meanwhile.
#pragma once

#include <cstdint>
#include <functional>

#include "analysis/base/result.h"
#include "analysis/journeys/rebuilder.h"
#include "analysis/trace/reader.h"

namespace sojourn::report {

// How far a long run is: events done of events there are.
using Progress = std::function<void(std::uint64_t done, std::uint64_t of)>;

// Rebuilds the journeys of a whole trace, which a thread of its own reads meanwhile. `consume` sees
// each batch afterwards, in time order, and may end it by returning false.
Result<journeys::Totals> rebuild(trace::Reader& reader, const journeys::Rules& rules,
                                 journeys::Observer& observer, const Progress& progress,
                                 const std::function<bool(const model::EventBatch&)>& consume);

// The same, where the observers are of one direction each and need no ids of journeys: both are
// told at the same time, in threads of their own. `consume` and `progress` are called in the
// caller's. Worth it where there are journeys of both.
bool can_rebuild_apart(const journeys::Topology& topology);
Result<journeys::Totals> rebuild_apart(
    trace::Reader& reader, const journeys::Rules& rules, journeys::Observer& down,
    journeys::Observer& up, const Progress& progress,
    const std::function<bool(const model::EventBatch&)>& consume);

}  // namespace sojourn::report
