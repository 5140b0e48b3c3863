// Finds out whether this kernel emulates the longer nops that compilers make, or steps over them:
// by probes on nops of our own, in a child process of this one. To be called while this process has
// one thread.
#pragma once

#include "userspace/capture/bpf/bpf_programs.h"

namespace sojourn::capture {

// Nops of three to eight bytes, except five, which no probe uses. False if it cannot be found out.
bool emulates_long_nops(Mechanism mechanism);

}  // namespace sojourn::capture
