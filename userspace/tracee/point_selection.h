// Selects points that were asked for, and gives points of several processes common numbers.
#pragma once

#include <vector>

#include "analysis/base/result.h"
#include "userspace/tracee/program_points.h"

namespace sojourn::tracee {

// Keeps the wanted points; `wanted` is by PointId. The others lose their sites and their ids.
Points select(Points points, const std::vector<bool>& wanted);

// Returns whether any point is to be recorded.
bool has_any(const Points& points);

// Gives the points their numbers in `schema`, to which new ones are added; `points.schema` is the
// same schema afterwards.
Result<void> join(Points& points, model::Schema& schema);

}  // namespace sojourn::tracee
