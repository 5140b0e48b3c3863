// Rebuilds the journeys of a whole trace. The executor decides in which threads; nobody else may
// use the reader meanwhile. Commands do it by a TracePass.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "analysis/base/executor.h"
#include "analysis/base/result.h"
#include "analysis/journeys/rebuilder.h"
#include "analysis/pipeline/divisible_observer.h"
#include "analysis/pipeline/trace_input.h"

namespace sojourn::pipeline {

// How far a long run is: events done of events there are.
using Progress = std::function<void(std::uint64_t done, std::uint64_t of)>;

// Sees each batch in time order, and may end all by returning false.
using Consume = std::function<bool(const model::EventBatch&)>;

// Both are called in the caller's thread, `consume` when all that became known by its events was
// told; either may be empty.
struct Listeners {
  Progress progress = {};
  Consume consume = {};
};

// Reads all events, and rebuilds nothing: the totals have the events only.
Result<journeys::Totals> read_events(Executor& executor, trace::Reader& reader,
                                     const Listeners& listeners);

// Each of these parts is rebuilt by itself; no part: all. The observer is told in the caller's
// thread, as by one rebuilder of all.
Result<journeys::Totals> rebuild(Executor& executor, TraceInput& input,
                                 std::span<const journeys::Partition> parts,
                                 journeys::Observer& observer, const Listeners& listeners);

// The same where the observer can be divided: a part of it goes with each rebuilder.
Result<journeys::Totals> rebuild_divided(Executor& executor, TraceInput& input,
                                         std::span<const journeys::Partition> parts,
                                         DivisibleObserver& observer, const Listeners& listeners);

// The same where the observer says of events which units it is told of: all in the caller's thread.
Result<journeys::Totals> rebuild_here(Executor& executor, TraceInput& input,
                                      journeys::Observer& observer, const Listeners& listeners);

}  // namespace sojourn::pipeline
