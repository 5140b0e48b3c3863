// Which units can never meet.
#pragma once

#include "analysis/journeys/topology.h"
#include "analysis/model/schema.h"

namespace sojourn::journeys {

// Gives the points of each direction that is divisible their PointPlan::owner_ids. Tables have to
// be made.
void find_independent_ids(const model::Schema& schema, Topology& topology);

}  // namespace sojourn::journeys
