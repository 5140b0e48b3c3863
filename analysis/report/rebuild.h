// Rebuilds the journeys of a whole trace, with a word on how far it is. The executor decides in
// which threads; nobody else may use the reader meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analysis/base/executor.h"
#include "analysis/base/result.h"
#include "analysis/journeys/rebuilder.h"
#include "analysis/report/summary.h"
#include "analysis/trace/reader.h"

namespace sojourn::report {

// How far a long run is: events done of events there are.
using Progress = std::function<void(std::uint64_t done, std::uint64_t of)>;

// Sees each batch in time order, and may end all by returning false.
using Consume = std::function<bool(const model::EventBatch&)>;

// Rebuilds the journeys of a whole trace in the caller's thread; it is read meanwhile. `consume`
// sees what was rebuilt.
Result<journeys::Totals> rebuild(Executor& executor, trace::Reader& reader,
                                 const journeys::Rules& rules, journeys::Observer& observer,
                                 const Progress& progress, const Consume& consume);

// The same where nobody is to be told but a summary: in parts, where that is known to give the
// same. Of so many processors.
Result<journeys::Totals> rebuild_summary(Executor& executor, trace::Reader& reader,
                                         const journeys::Topology& topology,
                                         const journeys::Rules& rules, unsigned processors,
                                         Summary& summary, const Progress& progress,
                                         const Consume& consume);

// Whether what is summed up does not depend on the order in which different units are told of.
bool can_partition(const trace::Reader& reader);

// What each of several threads rebuilds. How a trace is divided into shares is the same everywhere,
// so that everybody finds the same; that a thread does several of them is not seen.
std::vector<journeys::Partition> partitions_of(const journeys::Topology& topology,
                                               std::uint64_t events, unsigned processors);

// The same as rebuild() of all those parts, where nobody is to be told but a summary. `consume` and
// `progress` are called in the caller's thread.
Result<journeys::Totals> rebuild_partitioned(Executor& executor, trace::Reader& reader,
                                             const journeys::Rules& rules,
                                             std::span<const journeys::Partition> parts,
                                             Summary& summary, const Progress& progress,
                                             const Consume& consume);

}  // namespace sojourn::report
