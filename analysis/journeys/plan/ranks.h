// The order of points along the pipeline, in which events of one instant are processed.
#pragma once

#include "analysis/journeys/topology.h"

namespace sojourn::journeys {

// Ranks points by their longest distance from an input. If only cycles are left, one of them is
// entered at the point that was reached first, or else at the first point of the schema.
void rank_points(Topology& topology);

}  // namespace sojourn::journeys
