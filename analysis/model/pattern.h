// Patterns for points, the same in --points, `ctl` and triggers.
#pragma once

#include <string>

#include "analysis/model/schema.h"

namespace sojourn::model {

// Returns whether a point's name, or its direction and name, matches a glob: "rlc.*", "U *".
bool matches_pattern(const Point& point, const std::string& pattern);

}  // namespace sojourn::model
