// Whether functions of a process may be probed at their returns by uretprobes. The kernel does that
// by another return address on the stack, which nobody may meet who walks the stack instead of
// returning: an exception that goes through such a function ends the process, and so does code that
// has several stacks on one thread. Decided from what the process has mapped, by what is in those
// files; what it loads later is not known. No state.
#pragma once

#include <string>

#include "userspace/tracee/mapped_files.h"
#include "userspace/tracee/process.h"

namespace sojourn::coarse {

// Empty: nothing speaks against it, of all that was looked for. Else the first thing that does.
std::string why_no_return_probes(const tracee::Process& process,
                                 const tracee::ExecutedFiles& executed);

}  // namespace sojourn::coarse
