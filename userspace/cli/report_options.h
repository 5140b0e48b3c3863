// The options of `sojourn report`, and which of them exclude each other.
#pragma once

#include <cstdint>
#include <string>

#include "userspace/cli/arguments.h"
#include "userspace/cli/deadline_option.h"
#include "userspace/cli/rules_option.h"
#include "userspace/cli/script_option.h"
#include "userspace/cli/where_option.h"
#include "userspace/page/page_file.h"

namespace sojourn::cli {

struct ReportOptions {
  std::string path;
  std::string html;
  std::uint64_t megabytes = page::kDefaultTraceMegabytes;
  bool redact = false;
  std::string compat;
  bool json = false;
  bool points = false;
  bool explain = false;
  bool costs = false;
  bool raw = false;
  bool paste = false;
  bool plot = false;
  std::string by;
  std::string cdf;
  DeadlineOption deadline;
  WhereOption where;
  RulesOption rules;
  ScriptOption script;

  // Declares the options. This object must not move until the arguments were parsed.
  void define(Arguments& arguments);
};

}  // namespace sojourn::cli
