// Where both ends of a radio link are in one trace: pieces of several packets are put into a block,
// and taken out of it at the other end. Which of those that went in a unit is that comes out, its
// origin, is said by the ids that both have.
#pragma once

#include "analysis/journeys/rules.h"
#include "analysis/journeys/topology.h"
#include "analysis/journeys/unit_store.h"
#include "analysis/model/schema.h"

namespace sojourn::journeys {

// Marks the points between which that can be found out. Their pairs and inputs are known.
void find_origins(const model::Schema& schema, const Rules& rules, Topology& topology);

struct Origin {
  Unit* unit = nullptr;  // none: its block was not seen to be filled, or several could be it
  bool missing = false;  // or none of those that went in, though they have numbers to compare
};

// Of a unit with one parent, at a point that is `from_block`.
Origin origin_of(const Unit& unit, const Topology& topology);

}  // namespace sojourn::journeys
