// Decides whether functions of a process may be probed by uretprobes. For these the kernel replaces
// the return address on the stack, which breaks code that walks the stack instead of returning: an
// exception through such a function ends the process, and so does code with several stacks on one
// thread. Decided by the names in the files that the process has mapped; files that it loads later
// are not known. No state.
#pragma once

#include <string>

#include "userspace/tracee/mapped_files.h"
#include "userspace/tracee/process.h"

namespace sojourn::coarse {

// The first reason against uretprobes that was found. Empty: none was found.
std::string why_no_return_probes(const tracee::Process& process,
                                 const tracee::ExecutedFiles& executed);

}  // namespace sojourn::coarse
