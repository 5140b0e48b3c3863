// Journeys exactly as LatSeq's rebuilder makes them, for comparisons with what it printed before.
// Every later event within 0.1 s that agrees in the shared ids is another branch. No event is
// consumed, and a list of values that was matched once is narrowed for all journeys. These journeys
// say nothing about packets; those of analysis/journeys do. The time is quadratic in the events
// that share a source within 0.1 s, as LatSeq's is.
#pragma once

#include "analysis/base/result.h"
#include "analysis/latseq/graph.h"
#include "analysis/latseq/latseq_journeys.h"
#include "analysis/latseq/recording.h"

namespace sojourn::latseq {

// Changes the recording, as LatSeq does. Fails where LatSeq ends with an error of its own, and
// where there are more journeys than memory holds.
Result<Journeys> rebuild_as_latseq(Recording& recording, const Ends& ends);

}  // namespace sojourn::latseq
