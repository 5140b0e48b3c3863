// Writes the report page, for the commands that make one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/cli/arguments.h"
#include "userspace/cli/script_option.h"
#include "userspace/page/page_file.h"

namespace sojourn::cli {

// Declares --html-size.
Argument define_page_size(Arguments& arguments, std::uint64_t& megabytes);

// Declares --redact.
Argument define_redact(Arguments& arguments, bool& redact);

struct PageContent {
  // One trace, or two to compare. Empty: a page onto which traces can be dropped.
  std::vector<std::string> traces;
  std::uint64_t megabytes = page::kDefaultTraceMegabytes;
  bool redact = false;                   // of one trace
  const ScriptOption* script = nullptr;  // of one trace; none: it is as it stands in its file
};

// Writes a complete file or none.
Result<void> write_page_file(const std::string& path, const PageContent& content);

}  // namespace sojourn::cli
