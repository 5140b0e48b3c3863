// Numbers as people read them, by the names that userspace has for them.
#pragma once

#include "analysis/base/count_text.h"

namespace sojourn::base {

using sojourn::counted;
using sojourn::grouped;

}  // namespace sojourn::base
