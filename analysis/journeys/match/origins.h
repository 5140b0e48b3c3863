// Where both ends of a radio link are in one trace, segments of several packets are put into a
// block and taken out of it again at the other end. The origin of a unit that was taken out is the
// unit that was put in; the ids that both have say which one that is. plan/block_paths.h marks the
// points.
#pragma once

#include "analysis/journeys/topology.h"
#include "analysis/journeys/units/unit_store.h"

namespace sojourn::journeys {

struct Origin {
  // None where the filling of the block was not seen, or where several units could be it.
  Unit* unit = nullptr;
  // None of the units in the block is it, although they have numbers to compare.
  bool missing = false;
};

// The unit has one parent, and its point takes units out of blocks.
Origin origin_of(const Unit& unit, const Topology& topology);

}  // namespace sojourn::journeys
