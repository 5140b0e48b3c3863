// What a privileged helper answers (base/privileged_helper.h), once the capture has given its
// rights up. Each request is about a process of the capture, and about no other:
//
//   open         /proc/PID/maps and the like; the ELF files that it has below its root, no cores
//   links        where its executable, its descriptors and its namespaces lead
//   rings        the files of its rings, for writing: they have the names and the mappings of such
//   owner pages  what is in its rings besides
//   instruction  the next instruction of a thread that is stopped
//   perf events  of its threads
//   sockets      a question about those of its network namespace
//   costs        what a hit costs, measured on this program's own code
//   probes       a process that holds them (bpf/probe_keeper.h)
//
// Every request is checked as if it came from a stranger. The HelperScope is the only state.
#pragma once

#include "analysis/base/result.h"
#include "userspace/base/privileged_helper.h"
#include "userspace/capture/helper/helper_scope.h"
#include "userspace/capture/rights/rights.h"

namespace sojourn::capture {

// While this process has one thread, and the rights that are needed.
Result<base::PrivilegedHelper> start_privileged_helper(HelperScope::Limits limits,
                                                       const RightsNeeded& needed);

// In the privileged helper.
Result<base::Answer> serve_request(HelperScope& scope, base::PrivilegedRequest request,
                                   base::Unpacker& wanted, base::Fd& connection);

}  // namespace sojourn::capture
