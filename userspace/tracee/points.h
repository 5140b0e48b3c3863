// The points of a program: every note of every file that it executes, joined, checked, and turned
// into what the capture needs. A file or a note that is not in order never hides the others: it is
// listed as unusable, with the reason. No point at all is not an error here.
#pragma once

#include <span>
#include <string>

#include "analysis/base/result.h"
#include "userspace/tracee/process.h"
#include "userspace/tracee/program_points.h"

namespace sojourn::tracee {

// Of a running process: its executable and all libraries that it has mapped by now.
Result<Points> find_points(const Process& process);

// Of programs and libraries that need not run yet, opened by the given paths. Load addresses are
// not known, so a site whose operands name symbols is unusable unless the file runs at a fixed
// address.
Result<Points> find_points_in_files(std::span<const std::string> paths);
Result<Points> find_points_in_file(const std::string& path);

}  // namespace sojourn::tracee
