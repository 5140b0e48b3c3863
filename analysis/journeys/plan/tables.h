// Decides from the pairs in which tables units are inserted and looked up.
#pragma once

#include "analysis/base/result.h"
#include "analysis/journeys/topology.h"
#include "analysis/model/schema.h"

namespace sojourn::journeys {

// Points of one place with one key share a table where each point that enters the place feeds each
// point that leaves it. Otherwise a point would find units that it must not find, so each point
// that leaves the place has a table of its own.
Result<void> make_tables(const model::Schema& schema, Topology& topology);

}  // namespace sojourn::journeys
