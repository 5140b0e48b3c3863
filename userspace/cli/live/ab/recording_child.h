// One recording by a `sojourn record` of its own, and the end of what it started. The child leads a
// process group: what is left of that group after the recording, such as a command that runs until
// it is interrupted, is ended. Processes that were running before are in no such group and are left
// alone.
#pragma once

#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"

namespace sojourn::cli {

// Interrupts of this process become readable on the descriptor; what was left of a group comes to
// this process when its own parent ends. For the whole life of the process.
Result<base::Fd> prepare_recordings();

// `arguments` are those of `sojourn record`. An interrupt ends the recording and is an error.
// Standard output of all that runs goes to standard error: data of the caller alone is on it.
Result<void> record_once(const std::vector<std::string>& arguments, const base::Fd& interrupts);

}  // namespace sojourn::cli
