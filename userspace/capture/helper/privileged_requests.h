// The requests that a privileged helper answers (base/privileged_helper.h) once the capture has
// given its rights up. Each is about a process of the capture, and about no other:
//
//   open         files such as /proc/PID/maps; ELF files below its root, no core files
//   links        of its executable, its descriptors and its namespaces
//   rings        the files of its rings, for writing, recognised by their names and mappings
//   owner pages  the private pages of its rings, read from its memory
//   instruction  the next instruction of a thread that is stopped
//   perf events  of its threads
//   sockets      a question about those of its network namespace
//   costs        of a hit, measured on this program's own code
//   probes       a probe keeper (bpf/probe_keeper.h)
//
// Every request is checked as if it came from a stranger. The HelperScope is the only state.
#pragma once

#include "analysis/base/result.h"
#include "userspace/base/privileged_helper.h"
#include "userspace/capture/helper/helper_scope.h"
#include "userspace/capture/rights/rights.h"

namespace sojourn::capture {

// To be called while this process has one thread and the rights that the helper needs.
Result<base::PrivilegedHelper> start_privileged_helper(HelperScope::Limits limits,
                                                       const RightsNeeded& needed);

// Serves one request, in the privileged helper.
Result<base::Answer> serve_request(HelperScope& scope, base::PrivilegedRequest request,
                                   base::Unpacker& wanted, base::Fd& connection);

}  // namespace sojourn::capture
