// A subcommand of `sojourn`: one row in main's table, one file of its own. Its `define` declares
// options on the CLI11 app (whose help texts are the manual) and returns what to run once they are
// parsed. Data goes to stdout, words for people to stderr.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

#include "analysis/base/result.h"

namespace sojourn::cli {

using Action = std::function<Result<void>()>;

struct Command {
  const char* name;
  const char* summary;
  Action (*define)(CLI::App& app);
};

// For what CLI11's own checks cannot say plainly; only while arguments are parsed.
[[noreturn]] inline void refuse_usage(std::string words) {
  throw CLI::ParseError(std::move(words), CLI::ExitCodes::ExcludesError);
}

Action define_list(CLI::App& app);
Action define_ctl(CLI::App& app);
Action define_doctor(CLI::App& app);
Action define_record(CLI::App& app);
Action define_report(CLI::App& app);
Action define_journeys(CLI::App& app);
Action define_explain(CLI::App& app);
Action define_queues(CLI::App& app);
Action define_profile(CLI::App& app);
Action define_events(CLI::App& app);
Action define_check(CLI::App& app);
Action define_import(CLI::App& app);
Action define_export(CLI::App& app);
Action define_schema(CLI::App& app);
Action define_threads(CLI::App& app);
Action define_completion(CLI::App& app);

}  // namespace sojourn::cli
