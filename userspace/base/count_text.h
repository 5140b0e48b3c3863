// Numbers for people to read, under the names that userspace uses for them.
#pragma once

#include "analysis/base/count_text.h"

namespace sojourn::base {

using sojourn::counted;
using sojourn::grouped;

}  // namespace sojourn::base
