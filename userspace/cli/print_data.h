// Data to standard output.
#pragma once

#include <string_view>

#include "analysis/base/result.h"

namespace sojourn::cli {

Result<void> print_data(std::string_view text);

}  // namespace sojourn::cli
