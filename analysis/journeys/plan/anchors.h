// Whether journeys of a direction are packets that enter, or packets that leave: what is sent is
// cut and put into blocks, what is received is taken out of blocks and put together.
#pragma once

#include "analysis/journeys/plan/id_semantics.h"
#include "analysis/journeys/rules.h"
#include "analysis/journeys/topology.h"

namespace sojourn::journeys {

// The pairs are known. Where one part of a direction sends and another one that it does not touch
// receives (a terminal and a base station in one trace), each has its own.
void find_anchors(const IdSemantics& ids, const Rules& rules, Topology& topology);

}  // namespace sojourn::journeys
