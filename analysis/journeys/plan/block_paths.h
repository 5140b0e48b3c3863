// If both ends of a radio link are in one trace, segments of several packets are put into a block
// and taken out of it again at the other end. This finds the points between which that happens, so
// that match/origins.h can match a unit that is taken out with the one that was put in.
#pragma once

#include "analysis/journeys/rules.h"
#include "analysis/journeys/topology.h"
#include "analysis/model/schema.h"

namespace sojourn::journeys {

// Marks the points of such paths. The pairs of the topology and its inputs must be known.
void find_block_paths(const model::Schema& schema, const Rules& rules, Topology& topology);

}  // namespace sojourn::journeys
