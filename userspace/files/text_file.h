// A file that a user wrote, whole: rules, a script. What is longer than such a file can be is
// refused, not read.
#pragma once

#include <string>
#include <string_view>

#include "analysis/base/result.h"

namespace sojourn::files {

// `what` it is, as in "larger than 1 MiB, which no rules are".
Result<std::string> read_text(const std::string& path, std::string_view what);

}  // namespace sojourn::files
