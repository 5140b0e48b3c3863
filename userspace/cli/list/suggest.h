// `sojourn list --suggest`: a map to begin with. No state.
#pragma once

#include <sys/types.h>

#include "analysis/base/result.h"

namespace sojourn::cli {

// On stdout, and what could not be in it on stderr.
Result<void> suggest_map(pid_t pid);

}  // namespace sojourn::cli
