// The tables of `list`. All names come from the target, so none reaches the terminal with its
// control characters. No state.
#pragma once

#include "userspace/cli/live/list/listed.h"

namespace sojourn::cli {

// `with_foreign`: also USDT probes that are no points.
void print_tables(const Listed& listed, bool with_foreign);

}  // namespace sojourn::cli
