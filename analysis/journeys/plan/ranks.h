// The order of the pipeline, in which events of one instant are taken.
#pragma once

#include "analysis/journeys/topology.h"

namespace sojourn::journeys {

// Longest distance from an input. Where only cycles are left, one is entered where it was reached
// first, or where nothing reaches it at the point that the schema has first.
void rank_points(Topology& topology);

}  // namespace sojourn::journeys
