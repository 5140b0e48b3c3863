// Patterns by which a user means points, everywhere alike: of --points, of `ctl`, of triggers.
#pragma once

#include <string>

#include "analysis/model/schema.h"

namespace sojourn::model {

// By its name, or by its direction and its name, with * and ?: "rlc.*", "U *".
bool matches_pattern(const Point& point, const std::string& pattern);

}  // namespace sojourn::model
