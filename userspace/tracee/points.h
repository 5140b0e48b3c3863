// Finds the points of a program: every note of every file that it executes, joined, checked, and
// turned into sites for the capture. A file or a note that is not valid does not hide the others:
// it is listed as unusable, with the reason. A program without points is no error here.
#pragma once

#include <span>
#include <string>

#include "analysis/base/result.h"
#include "userspace/tracee/process.h"
#include "userspace/tracee/program_points.h"

namespace sojourn::tracee {

// The points of a running process: of its executable and all libraries that it has mapped by now.
Result<Points> find_points(const Process& process);

// The points of programs and libraries that need not run, opened by the given paths. Load addresses
// are not known, so a site whose operands name symbols is unusable unless the file runs at a fixed
// address.
Result<Points> find_points_in_files(std::span<const std::string> paths);
Result<Points> find_points_in_file(const std::string& path);

}  // namespace sojourn::tracee
