// Reads a whole file that a user wrote: rules, a script. A file that is too long for that is
// refused unread.
#pragma once

#include <string>
#include <string_view>

#include "analysis/base/result.h"

namespace sojourn::files {

// `what` names the content in errors, as in "larger than 1 MiB, which no rules are".
Result<std::string> read_text(const std::string& path, std::string_view what);

}  // namespace sojourn::files
