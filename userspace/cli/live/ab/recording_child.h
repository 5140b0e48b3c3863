// One recording by a `sojourn record` of its own, and the end of the processes that it started. The
// child leads a process group. Processes that remain in that group after the recording, such as a
// command that runs until it is interrupted, are ended. Processes that were running before are in
// no such group and are left alone.
#pragma once

#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"

namespace sojourn::cli {

// Makes interrupts of this process readable on the descriptor, and lets orphans of a group become
// children of this process. Both last as long as the process.
Result<base::Fd> prepare_recordings();

// `arguments` are those of `sojourn record`. An interrupt ends the recording and is an error. The
// standard output of all these programs goes to standard error, so that standard output has the
// caller's data alone.
Result<void> record_once(const std::vector<std::string>& arguments, const base::Fd& interrupts);

}  // namespace sojourn::cli
