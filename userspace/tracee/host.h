// The machine that a target runs on.
#pragma once

#include <string_view>

#include "analysis/model/capture_info.h"

namespace sojourn::tracee {

// What cannot be read stays empty: a trace without the CPU's name is still a trace.
model::Host host_info();

// Whether the cycle counter ticks at one rate on every CPU, also while that sleeps: rings stamp
// with it. By what /proc/cpuinfo says.
bool has_steady_counter(std::string_view cpuinfo);
bool has_steady_counter();  // this machine

// Whether process numbers here are the kernel's own, and not a container's.
bool in_first_pid_namespace();

}  // namespace sojourn::tracee
