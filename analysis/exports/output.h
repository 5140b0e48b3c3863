// The output of an export: text or bytes, in order, a few kilobytes or more at a time. An error
// that it returns ends the export.
#pragma once

#include <functional>
#include <string_view>

#include "analysis/base/result.h"

namespace sojourn::exports {

using Write = std::function<Result<void>(std::string_view bytes)>;

}  // namespace sojourn::exports
