// Writes the report page, for the commands that make one.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/base/result.h"
#include "userspace/cli/arguments.h"
#include "userspace/page/page_file.h"

namespace sojourn::cli {

// Declares --html-size.
Argument define_page_size(Arguments& arguments, std::uint64_t& megabytes);

// Writes a complete file or none. Without a trace's path: a page onto which a trace can be dropped.
Result<void> write_page_file(const std::string& path, const std::string& trace_path,
                             std::uint64_t megabytes);

}  // namespace sojourn::cli
