// `sojourn diff`: what differs between traces of two builds or settings, and by how much.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "analysis/differential/condition.h"
#include "analysis/differential/difference.h"
#include "analysis/present/differential/difference_text.h"
#include "userspace/cli/command.h"
#include "userspace/cli/terminal.h"
#include "userspace/cli/traces_to_compare.h"

namespace sojourn::cli {
namespace {

using differential::Checked;
using differential::Condition;
using differential::Finding;

struct Options {
  std::vector<std::string> base;
  std::vector<std::string> now;
  std::vector<std::string> fail_on;
  TracesToCompare traces;
  std::string unit = "auto";
  double level = 0.05;
  bool json = false;
};

// Judges the conditions of --fail-on: an error with its own exit code if one holds, else if the
// data cannot decide one.
Result<void> judge(const std::vector<Condition>& conditions, const std::vector<Checked>& checked) {
  const auto words = [&](Finding finding) {
    std::vector<std::string> all;
    for (std::size_t at = 0; at < checked.size(); ++at)
      if (checked[at].finding == finding)
        all.push_back(fmt::format("{}: {}", conditions[at].text, checked[at].why));
    return fmt::format("{}", fmt::join(all, "; "));
  };
  if (const std::string holds = words(Finding::kHolds); !holds.empty())
    return std::unexpected(Error(holds, ErrorKind::kConditionHolds));
  if (const std::string open = words(Finding::kTooLittle); !open.empty())
    return std::unexpected(Error("too little data: " + open, ErrorKind::kTooLittleData));
  return {};
}

nlohmann::ordered_json checked_json(const std::vector<Condition>& conditions,
                                    const std::vector<Checked>& checked) {
  auto all = nlohmann::ordered_json::array();
  for (std::size_t at = 0; at < checked.size(); ++at)
    all.push_back({{"condition", conditions[at].text},
                   {"finding", checked[at].finding == Finding::kHolds         ? "holds"
                               : checked[at].finding == Finding::kDoesNotHold ? "does not hold"
                                                                              : "too little data"},
                   {"why", checked[at].why}});
  return all;
}

Result<void> run(const Options& options) {
  std::vector<Condition> conditions;
  conditions.reserve(options.fail_on.size());
  for (const std::string& text : options.fail_on)
    conditions.push_back(*differential::parse_condition(text));
  SJ_TRY(base, options.traces.read(options.base));
  SJ_TRY(now, options.traces.read(options.now));
  differential::DifferenceOptions how;
  how.level = options.level;
  if (options.unit != "auto")
    how.unit = options.unit == "run" ? differential::Unit::kRun : differential::Unit::kBlock;
  for (const Condition& condition : conditions)
    if (std::ranges::find(how.shares, condition.share) == how.shares.end())
      how.shares.push_back(condition.share);
  const differential::Difference found = differential::difference(base, now, how);
  std::vector<Checked> checked;
  checked.reserve(conditions.size());
  for (const Condition& condition : conditions)
    checked.push_back(differential::check(condition, found.times));
  const present::DifferenceContent content = {
      .base = base, .now = now, .found = found, .level = options.level, .width = line_width()};
  if (options.json) {
    auto document = present::difference_json(content);
    if (!conditions.empty()) document["fail_on"] = checked_json(conditions, checked);
    fmt::print("{}\n",
               document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else {
    fmt::print("{}", present::difference_text(content));
  }
  return judge(conditions, checked);
}

}  // namespace

Action define_diff(Arguments& arguments) {
  auto options = std::make_shared<Options>();
  arguments
      .add_option("base", options->base,
                  "Traces of the one side: the old build, the default setting")
      .type_name("FILE")
      .required();
  arguments
      .add_option("--against", options->now, "Traces of the other side: the new build or setting")
      .type_name("FILE")
      .expected(1, 1000)
      .required();
  arguments
      .add_option("--fail-on", options->fail_on,
                  "A change that must not be, e.g. 'p99(D) > +5%' or 'mean(U pdcp.rx) > +20us'. "
                  "Exit code 3: it surely is there; 4: too little data to say; 0: it surely is "
                  "not. May stand several times")
      .type_name("CONDITION")
      .one_word_each()
      .check([](const std::string& text) {
        const auto condition = differential::parse_condition(text);
        return condition ? "" : condition.error().text();
      });
  choose_from(arguments
                  .add_option("--unit", options->unit,
                              "What is compared: runs where there are two of each side, else long "
                              "blocks of them (auto)")
                  .capture_default_str(),
              {"auto", "run", "block"});
  options->traces.define_options(arguments);
  define_level(arguments, options->level);
  arguments.add_flag("--json", options->json, "One JSON object instead of text");
  arguments.footer(
      "mean, p50, p90, p99  how much the figure changed, and half of its 95 % interval\n"
      "verdict     of the means of all runs or blocks: k-sample Anderson-Darling, Holm over all "
      "rows. Exact where there are few of them\n"
      "independent packets that share a queue are late together: so many would say as much if each "
      "had been late by itself\n"
      "slowdown    how much a place's mean grew, divided by how much the latency's did\n"
      "in flight   the mean number of units in a place (no test)\n"
      "\n"
      "Three runs of each side can show nothing, whatever they are; four can in one test, and "
      "seven "
      "in thirty. docs/differential.md explains each number.");
  return [options] { return run(*options); };
}

}  // namespace sojourn::cli
