// Rebuilds the journeys of a whole trace file, with a word on how far it is.
#pragma once

#include <cstdint>
#include <functional>

#include "analysis/base/result.h"
#include "analysis/journeys/rebuilder.h"
#include "analysis/trace/reader.h"

namespace sojourn::report {

// How far a long run is: events done of events there are.
using Progress = std::function<void(std::uint64_t done, std::uint64_t of)>;

// Rebuilds the journeys of a whole trace. `consume` sees each batch
// afterwards, in time order, and may end it by returning false.
Result<journeys::Totals> rebuild(trace::Reader& reader, const journeys::Rules& rules,
                                 journeys::Observer& observer, const Progress& progress,
                                 const std::function<bool(const model::EventBatch&)>& consume);

}  // namespace sojourn::report
