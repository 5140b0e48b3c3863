// A file that others build from: it is complete or as it was, never in between, and one that would
// not change is left alone, time and all, so that nothing is built again for it.
#pragma once

#include <string>
#include <string_view>

#include "analysis/base/result.h"

namespace sojourn::cli {

Result<void> replace_file(const std::string& path, std::string_view content);

}  // namespace sojourn::cli
