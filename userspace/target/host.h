// The machine that a target runs on.
#pragma once

#include "analysis/model/capture.h"

namespace sojourn::target {

// What cannot be read stays empty: a trace without the CPU's name is still a trace.
model::Host host_info();

// Whether process numbers here are the kernel's own, and not a container's.
bool in_first_pid_namespace();

}  // namespace sojourn::target
