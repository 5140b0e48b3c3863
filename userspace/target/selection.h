// Points that are asked for, out of those that there are.
#pragma once

#include <vector>

#include "userspace/target/target.h"

namespace sojourn::target {

// `wanted` is by PointId. The others lose their sites and their places in the schema.
Points select(Points points, const std::vector<bool>& wanted);

}  // namespace sojourn::target
