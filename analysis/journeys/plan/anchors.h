// Decides whether journeys of a direction are packets that enter or packets that leave. A direction
// that is sent cuts packets and puts them into blocks; one that is received takes them out of
// blocks and reassembles them.
#pragma once

#include "analysis/journeys/plan/id_semantics.h"
#include "analysis/journeys/rules.h"
#include "analysis/journeys/topology.h"

namespace sojourn::journeys {

// The pairs must be known. A terminal and a base station in one trace are two parts of a direction
// that do not touch: one sends and the other one receives, and each has its own anchor.
void find_anchors(const IdSemantics& ids, const Rules& rules, Topology& topology);

}  // namespace sojourn::journeys
