// The trace file that a command was given to read: opened, or refused where nothing in it could be
// read, and a word on stderr where it does not hold all that happened.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/base/result.h"
#include "analysis/trace/reader.h"
#include "userspace/cli/arguments.h"

namespace sojourn::cli {

// The argument that names it.
Argument add_trace(Arguments& arguments, std::string& path);

Result<trace::Reader> open_trace(const std::string& path);

// What times count from: the capture's first mark, or the first event where there is none.
std::uint64_t origin_ns(const trace::Reader& reader);

// After reading: some damage is found only then.
void tell_if_not_whole(const trace::Reader& reader);

}  // namespace sojourn::cli
