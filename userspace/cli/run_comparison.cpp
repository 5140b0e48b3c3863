#include "userspace/cli/run_comparison.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "analysis/differential/blocks.h"
#include "analysis/differential/cause_change.h"
#include "analysis/differential/condition.h"
#include "analysis/differential/difference.h"
#include "analysis/filter/keywords.h"
#include "analysis/present/differential/difference_text.h"
#include "userspace/cli/terminal.h"

namespace sojourn::cli {
namespace {

using differential::Checked;
using differential::Condition;
using differential::Finding;

// Judges the conditions of --fail-on. Fails with an exit code of its own if one holds, or with
// another if none holds but the data cannot decide one.
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

// Fails where a condition is about a place that no run of either side has.
Result<void> check_places(const std::vector<Condition>& conditions,
                          const std::vector<differential::Comparison>& times) {
  for (const Condition& condition : conditions) {
    if (condition.place.empty()) continue;
    std::vector<std::string> places;
    for (const differential::Comparison& each : times)
      if (!each.is_latency && each.direction == condition.direction) places.push_back(each.name);
    if (std::ranges::find(places, condition.place) == places.end())
      return fail("{}: no trace has a place {} {}{}", condition.text, condition.direction,
                  condition.place, filter::did_you_mean(condition.place, places));
  }
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

// On both sides a packet is late if it is slower than the base's slowest hundredth.
causes::Deadlines late_from(const std::vector<differential::RunFigures>& base) {
  constexpr double kShare = 0.99;
  const auto of = [&](std::size_t direction) {
    std::vector<float> latencies;
    for (const differential::RunFigures& run : base) {
      const auto& of_run = run.packets[direction].latency_ns;
      latencies.insert(latencies.end(), of_run.begin(), of_run.end());
    }
    return latencies.empty()
               ? UINT64_MAX
               : static_cast<std::uint64_t>(differential::quantile(latencies, kShare));
  };
  return {.down_ns = of(0), .up_ns = of(1)};
}

}  // namespace

void RunComparison::define_options(Arguments& arguments) {
  arguments
      .add_option("--fail-on", fail_on_,
                  "A change that is not allowed, e.g. 'p99(D) > +5%' or 'mean(U pdcp.rx) > +20us'. "
                  "Exit code 3: it is certain; 4: too little data to say; 0: certainly there is "
                  "no such change. May be repeated")
      .type_name("CONDITION")
      .one_word_each()
      .check([](const std::string& text) {
        const auto condition = differential::parse_condition(text);
        return condition ? "" : condition.error().text();
      });
  choose_from(arguments
                  .add_option("--unit", unit_,
                              "The unit of comparison: runs if there are two of each side, else "
                              "long blocks of them (auto)")
                  .capture_default_str(),
              {"auto", "run", "block"});
  traces_.define_options(arguments);
  define_level(arguments, level_);
  arguments.add_flag(
      "--causes", causes_,
      "Also compare the causes of lateness (those of `sojourn explain`). A packet is "
      "late if it took longer than p99 of the base. Reads each trace twice");
  arguments.add_flag("--json", json_, "One JSON object instead of text");
}

bool RunComparison::is_plain() const {
  const RunComparison plain;
  return fail_on_.empty() && unit_ == plain.unit_ && level_ == plain.level_ && !causes_ && !json_ &&
         traces_.is_plain();
}

Result<void> RunComparison::run(const std::vector<std::string>& base_paths,
                                const std::vector<std::string>& new_paths) const {
  std::array<Side, 2> sides;
  for (const std::string& path : base_paths) SJ_CHECK(read_next(sides[0], path));
  for (const std::string& path : new_paths) SJ_CHECK(read_next(sides[1], path));
  return compare(sides, nullptr);
}

Result<void> RunComparison::read_next(Side& side, const std::string& path) const {
  SJ_TRY(read, traces_.read({path}));
  side.paths.push_back(path);
  side.runs.push_back(std::move(read.front()));
  return {};
}

Result<void> RunComparison::compare(const std::array<Side, 2>& sides,
                                    const differential::RunsInTurns* turns) const {
  const auto& [base_paths, base] = sides[0];
  const auto& [new_paths, now] = sides[1];
  std::vector<Condition> conditions;
  conditions.reserve(fail_on_.size());
  for (const std::string& text : fail_on_)
    conditions.push_back(*differential::parse_condition(text));
  differential::DifferenceOptions how;
  how.level = level_;
  how.turns = turns;
  if (unit_ != "auto")
    how.unit = unit_ == "run" ? differential::Unit::kRun : differential::Unit::kBlock;
  for (const Condition& condition : conditions)
    if (std::ranges::find(how.shares, condition.share) == how.shares.end())
      how.shares.push_back(condition.share);
  const differential::Difference found = differential::difference(base, now, how);
  std::vector<Checked> checked;
  checked.reserve(conditions.size());
  for (const Condition& condition : conditions)
    checked.push_back(differential::check(condition, found.times));
  present::LatenessContent lateness;
  if (causes_) {
    const causes::Deadlines late = late_from(base);
    SJ_TRY(base_causes, traces_.read_causes(base_paths, late));
    SJ_TRY(new_causes, traces_.read_causes(new_paths, late));
    lateness = {.down_ns = late.down_ns,
                .up_ns = late.up_ns,
                .changes = differential::cause_changes(base_causes, new_causes)};
  }
  const present::DifferenceContent content = {.base = base,
                                              .now = now,
                                              .found = found,
                                              .lateness = causes_ ? &lateness : nullptr,
                                              .level = level_,
                                              .width = line_width()};
  if (json_) {
    auto document = present::difference_json(content);
    if (!conditions.empty()) document["fail_on"] = checked_json(conditions, checked);
    fmt::print("{}\n",
               document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else {
    fmt::print("{}", present::difference_text(content));
  }
  SJ_CHECK(check_places(conditions, found.times));
  return judge(conditions, checked);
}

std::string comparison_words() {
  return "mean, p50, p90, p99  how much the figure changed, and half of its 95 % interval\n"
         "verdict     of the means of all runs or blocks: k-sample Anderson-Darling, Holm over all "
         "rows. Exact where there are few of them\n"
         "independent the number of packets that would be as much evidence if each was late by "
         "itself: packets that share a queue are late together\n"
         "slowdown    how much a place's mean grew, divided by how much the latency's did\n"
         "in flight   the mean number of units in a place (no test)\n"
         "\n"
         "Three runs of each side can never show a difference; four can in one test, and "
         "seven in 85. docs/differential.md explains each number.";
}

}  // namespace sojourn::cli
