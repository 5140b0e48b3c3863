// If both ends of a radio link are in one trace, segments of several packets are put into a block
// and taken out of it again at the other end. The origin of a unit that was taken out is the unit
// that was put in. It is found by the ids that both have. plan/block_paths.h marks the points.
#pragma once

#include "analysis/journeys/topology.h"
#include "analysis/journeys/units/unit_store.h"

namespace sojourn::journeys {

struct Origin {
  // Null if the filling of the block was not seen, or if several units match.
  Unit* unit = nullptr;
  // No unit in the block matches, although they have numbers to compare.
  bool missing = false;
};

// The unit has one parent, and its point takes units out of blocks.
Origin origin_of(const Unit& unit, const Topology& topology);

}  // namespace sojourn::journeys
