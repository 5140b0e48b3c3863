// Rebuilds the journeys of a whole trace. The executor decides in which threads; the reader must
// not be used meanwhile. Commands do it through a TracePass.
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

// Reports the progress of a long run: events read, and events in all.
using Progress = std::function<void(std::uint64_t done, std::uint64_t of)>;

// Sees each batch in time order, and may end all by returning false.
using Consume = std::function<bool(const model::EventBatch&)>;

// Both are called in the caller's thread. `consume` gets a batch after the observer got everything
// that followed from it. Either may be empty.
struct Listeners {
  Progress progress = {};
  Consume consume = {};
};

// Reads all events and rebuilds nothing: the totals count events only.
Result<journeys::Totals> read_events(Executor& executor, trace::Reader& reader,
                                     const Listeners& listeners);

// Rebuilds each of these parts by itself, or everything at once if there are none. The observer is
// called in the caller's thread, as by a single rebuilder.
Result<journeys::Totals> rebuild(Executor& executor, TraceInput& input,
                                 std::span<const journeys::Partition> parts,
                                 journeys::Observer& observer, const Listeners& listeners);

// For an observer that can be divided: a part of it goes with each rebuilder.
Result<journeys::Totals> rebuild_divided(Executor& executor, TraceInput& input,
                                         std::span<const journeys::Partition> parts,
                                         DivisibleObserver& observer, const Listeners& listeners);

// For a selective observer: everything runs in the caller's thread.
Result<journeys::Totals> rebuild_here(Executor& executor, TraceInput& input,
                                      journeys::Observer& observer, const Listeners& listeners);

}  // namespace sojourn::pipeline
