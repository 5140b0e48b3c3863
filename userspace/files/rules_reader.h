// Rules about journeys as a file, see analysis/journeys/rule_file.h.
#pragma once

#include <string>

#include "analysis/base/result.h"
#include "analysis/journeys/rules.h"

namespace sojourn::files {

Result<journeys::Rules> read_rules(const std::string& path);

}  // namespace sojourn::files
