// Finds the global ids that divide a direction: units that differ in them can never meet.
#pragma once

#include "analysis/journeys/topology.h"
#include "analysis/model/schema.h"

namespace sojourn::journeys {

// Sets PointPlan::owner_ids for the points of each divisible direction. The tables must be made.
void find_independent_ids(const model::Schema& schema, Topology& topology);

}  // namespace sojourn::journeys
