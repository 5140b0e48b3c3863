// Whether this kernel emulates the longer nops that compilers make, or steps over them: found out
// by probes on nops of our own, in a child process of this one. To be called while this process has
// one thread.
#pragma once

#include "userspace/capture/bpf/bpf_programs.h"

namespace sojourn::capture {

// Those of three to eight bytes, but for that of five, which is for nobody. False where it cannot
// be found out.
bool emulates_long_nops(Mechanism mechanism);

}  // namespace sojourn::capture
