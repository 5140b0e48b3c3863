// Arguments that lie side by side in the target's memory, as those beyond the registers do on the
// stack, are read by the BPF program in one go: a read costs more than all else of an argument.
#pragma once

#include <span>

#include "bpf/events.h"

namespace sojourn::capture {

// Turns as many arguments in memory as one read can cover into SJ_ARG_SPAN. 0 bytes: no two of them
// are near enough to each other.
sj_span join_span(std::span<sj_arg> args);

}  // namespace sojourn::capture
