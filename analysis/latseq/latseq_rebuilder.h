// Journeys exactly as LatSeq's rebuilder makes them, for those who compare with what it printed
// before: every later event within 0.1 s that agrees in the ids that both have is another branch,
// none is consumed, and whatever list of values was matched once is narrowed for everybody. It is
// no statement about packets; analysis/journeys is. Quadratic in what shares a source within 0.1 s,
// as its model.
#pragma once

#include "analysis/base/result.h"
#include "analysis/latseq/graph.h"
#include "analysis/latseq/latseq_journeys.h"
#include "analysis/latseq/recording.h"

namespace sojourn::latseq {

// Writes to the recording, as LatSeq does. Fails where LatSeq ends with an error of its own, and
// where it makes more journeys than memory holds.
Result<Journeys> rebuild_as_latseq(Recording& recording, const Ends& ends);

}  // namespace sojourn::latseq
