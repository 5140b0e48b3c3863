// A subcommand of `sojourn`: one row in a table (offline_commands.cpp, live/main.cpp), and one
// source file. Its `define` declares its arguments, whose help texts are the manual, and returns
// the function to run once they are parsed. Data goes to stdout, messages for people to stderr.
#pragma once

#include <functional>

#include "analysis/base/result.h"
#include "userspace/cli/arguments.h"

namespace sojourn::cli {

using Action = std::function<Result<void>()>;

struct Command {
  const char* name;
  const char* summary;
  Action (*define)(Arguments& arguments);
  bool is_listed = true;  // by help and by completion
};

Action define_report(Arguments& arguments);
Action define_open(Arguments& arguments);
Action define_page(Arguments& arguments);
Action define_journeys(Arguments& arguments);
Action define_explain(Arguments& arguments);
Action define_flow(Arguments& arguments);
Action define_diff(Arguments& arguments);
Action define_energy(Arguments& arguments);
Action define_history(Arguments& arguments);
Action define_why_slow(Arguments& arguments);
Action define_merge(Arguments& arguments);
Action define_queues(Arguments& arguments);
Action define_profile(Arguments& arguments);
Action define_events(Arguments& arguments);
Action define_check(Arguments& arguments);
Action define_import(Arguments& arguments);
Action define_export(Arguments& arguments);
Action define_schema(Arguments& arguments);
Action define_threads(Arguments& arguments);
Action define_completion(Arguments& arguments);
Action define_package_files(Arguments& arguments);

}  // namespace sojourn::cli
