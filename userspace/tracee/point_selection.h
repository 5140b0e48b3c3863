// Points that are asked for, out of those that there are; and points of several processes under
// common numbers.
#pragma once

#include <vector>

#include "analysis/base/result.h"
#include "userspace/tracee/program_points.h"

namespace sojourn::tracee {

// `wanted` is by PointId. The others lose their sites and their places in the schema.
Points select(Points points, const std::vector<bool>& wanted);

// Whether any of them is to be recorded.
bool has_any(const Points& points);

// Gives the points the numbers that they have in `schema`, which takes in those that it has not;
// `points.schema` is the same afterwards.
Result<void> join(Points& points, model::Schema& schema);

}  // namespace sojourn::tracee
