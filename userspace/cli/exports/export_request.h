// The arguments of `sojourn export`, and its output. Plain data.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/exports/output.h"
#include "userspace/cli/deadline_option.h"
#include "userspace/cli/exports/choice_options.h"
#include "userspace/cli/exports/open_option.h"
#include "userspace/cli/rules_option.h"
#include "userspace/cli/script_option.h"
#include "userspace/cli/where_option.h"

namespace sojourn::cli {

struct ExportRequest {
  std::string path;
  std::string to;
  std::string what;  // one of the format's parts; empty where it has none
  std::string compat;
  std::string output;
  RulesOption rules;
  WhereOption where;
  DeadlineOption deadline;
  ChoiceOptions choice;
  OpenOption open;
  ScriptOption script;
};

}  // namespace sojourn::cli
