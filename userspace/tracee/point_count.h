// Counts the points that an ELF file describes, by its section headers and its point notes. That is
// cheap enough for every file that any process executes. points.h reads the same file with more
// care, and may find that some of the points cannot be used.
//
// The file is hostile until checked. Reads are bounded for any header. No state.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/base/result.h"

namespace sojourn::tracee {

struct PointCount {
  std::size_t points = 0;
  bool is_lower_bound = false;  // there are more notes than were read, or they are damaged
};

// Fails if the file cannot be opened. A file that is no program or library has no points.
Result<PointCount> count_points(const std::string& path);

}  // namespace sojourn::tracee
