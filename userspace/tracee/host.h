// The machine that a target runs on.
#pragma once

#include <string_view>

#include "analysis/model/capture_info.h"

namespace sojourn::tracee {

// Members that cannot be read stay empty: a trace also works without the CPU's name.
model::Host host_info();

// Returns whether the cycle counter, with which rings are stamped, ticks at one rate on every CPU,
// also while the CPU sleeps. By /proc/cpuinfo.
bool has_steady_counter(std::string_view cpuinfo);
bool has_steady_counter();  // this machine

// Returns whether pids here are those of the first PID namespace, and not a container's.
bool in_first_pid_namespace();

}  // namespace sojourn::tracee
