// Which tables units are looked for in, by the pairs of points that touch.
#pragma once

#include "analysis/base/result.h"
#include "analysis/journeys/topology.h"
#include "analysis/model/schema.h"

namespace sojourn::journeys {

// Points with one key share a table where each of them that enters the place feeds each that
// leaves it. Where one does not, its units must not be found: each that leaves has a table of its
// own.
Result<void> make_tables(const model::Schema& schema, Topology& topology);

}  // namespace sojourn::journeys
