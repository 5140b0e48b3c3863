// A text that somebody wrote: rules, maps. Whole, and of a bounded size.
#pragma once

#include <string>

#include "analysis/base/result.h"

namespace sojourn::files {

// An error where it is larger than 1 MiB, which no such text is.
Result<std::string> read_text(const std::string& path);

}  // namespace sojourn::files
