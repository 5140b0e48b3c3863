// The report page as the commands write it.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/base/result.h"
#include "userspace/cli/arguments.h"
#include "userspace/page/page_file.h"

namespace sojourn::cli {

// Declares --html-size.
Argument define_page_size(Arguments& arguments, std::uint64_t& megabytes);

// Complete or not there. Without a trace's path: the page that takes one dropped onto it.
Result<void> write_page_file(const std::string& path, const std::string& trace_path,
                             std::uint64_t megabytes);

}  // namespace sojourn::cli
