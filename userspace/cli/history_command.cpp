// `sojourn history`: latencies and stays over a series of traces, or within one, and the places
// where they changed.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "analysis/differential/blocks.h"
#include "analysis/differential/change_points.h"
#include "analysis/differential/changes_within.h"
#include "analysis/present/words/json_format.h"
#include "analysis/present/words/table.h"
#include "analysis/present/words/text_format.h"
#include "userspace/cli/command.h"
#include "userspace/cli/history_within.h"
#include "userspace/cli/print_data.h"
#include "userspace/cli/terminal.h"
#include "userspace/cli/traces_to_compare.h"

namespace sojourn::cli {
namespace {

using differential::ChangePoint;
using differential::RunFigures;

struct HistoryOptions {
  std::vector<std::string> paths;
  TracesToCompare traces;
  double level = 0.05;
  bool json = false;
};

// The mean of one latency or stay in each trace that has it.
struct Series {
  char direction = 'D';
  std::string name;
  std::vector<std::size_t> runs;  // the indexes of these traces
  std::vector<double> mean_ns;
  std::vector<ChangePoint> changes = {};
};

class SeriesTable {
 public:
  void add(std::size_t run, char direction, const std::string& name, std::vector<float> values) {
    std::erase_if(values, [](float value) { return std::isnan(value); });
    if (values.empty()) return;
    const auto found = std::ranges::find_if(series_, [&](const Series& each) {
      return each.direction == direction && each.name == name;
    });
    Series& series = found != series_.end()
                         ? *found
                         : series_.emplace_back(Series{
                               .direction = direction, .name = name, .runs = {}, .mean_ns = {}});
    series.runs.push_back(run);
    series.mean_ns.push_back(differential::mean(std::span<const float>(values)));
  }
  std::vector<Series> take() && { return std::move(series_); }

 private:
  std::vector<Series> series_;
};

std::vector<Series> series_of(const std::vector<RunFigures>& runs) {
  SeriesTable table;
  for (std::size_t run = 0; run < runs.size(); ++run)
    for (std::size_t direction = 0; direction < 2; ++direction) {
      const char letter = direction == 0 ? 'D' : 'U';
      const auto& packets = runs[run].packets[direction];
      table.add(run, letter, "latency", packets.latency_ns);
      for (const auto& [place, stays] : packets.stays_ns) table.add(run, letter, place, stays);
    }
  return std::move(table).take();
}

std::string changes_text(const Series& series, const std::vector<RunFigures>& runs) {
  std::string text;
  for (const ChangePoint& change : series.changes)
    text += fmt::format("{}{} to {} ({:+.1f} %) from {} on (p {:.2g})", text.empty() ? "" : "; ",
                        present::duration(change.before), present::duration(change.after),
                        100 * (change.after / change.before - 1),
                        printable(runs[series.runs[change.at]].path), change.p);
  return text.empty() ? "none seen" : text;
}

std::string history_text(const std::vector<Series>& all, const std::vector<RunFigures>& runs,
                         std::size_t needed) {
  present::Table table({"mean", "traces", "first", "last", "least", "most", "changes"});
  table.left(6);
  table.fold(6);
  for (const Series& series : all)
    table.row({fmt::format("{} {}", series.direction, printable(series.name)),
               fmt::format("{}", series.runs.size()), present::duration(series.mean_ns.front()),
               present::duration(series.mean_ns.back()),
               present::duration(std::ranges::min(series.mean_ns)),
               present::duration(std::ranges::max(series.mean_ns)), changes_text(series, runs)});
  std::string text = table.text(line_width());
  if (runs.size() < needed)
    text += fmt::format("\ntoo little data: {} tests take {} traces to show a change\n", all.size(),
                        needed);
  return text;
}

nlohmann::ordered_json history_json(const std::vector<Series>& all,
                                    const std::vector<RunFigures>& runs, std::size_t needed) {
  nlohmann::ordered_json object = {{"traces", nlohmann::ordered_json::array()},
                                   {"traces_needed", needed},
                                   {"series", nlohmann::ordered_json::array()}};
  for (const RunFigures& run : runs)
    object["traces"].push_back({{"path", run.path}, {"build_id", run.build_id}});
  for (const Series& series : all) {
    nlohmann::ordered_json one = {{"dir", std::string(1, series.direction)},
                                  {"name", series.name},
                                  {"traces", series.runs},
                                  {"mean_us", nlohmann::ordered_json::array()},
                                  {"changes", nlohmann::ordered_json::array()}};
    for (const double mean_ns : series.mean_ns) one["mean_us"].push_back(mean_ns * 1e-3);
    for (const ChangePoint& change : series.changes)
      one["changes"].push_back({{"at", series.runs[change.at]},
                                {"before_us", change.before * 1e-3},
                                {"after_us", change.after * 1e-3},
                                {"p", change.p}});
    object["series"].push_back(std::move(one));
  }
  return object;
}

Result<void> run_within(const HistoryOptions& options, const RunFigures& run) {
  const auto found = differential::changes_within(run, options.level);
  if (found.series.empty()) return fail("{}: the trace has no whole packet", run.path);
  return print_data(options.json ? present::json_text(history_within_json(run, found))
                                 : history_within_text(run, found));
}

Result<void> run(const HistoryOptions& options) {
  SJ_TRY(runs, options.traces.read(options.paths));
  if (runs.size() == 1) return run_within(options, runs.front());
  std::vector<Series> all = series_of(runs);
  if (all.empty()) return fail("no trace has a whole packet");
  const double level = options.level / static_cast<double>(all.size());
  for (Series& series : all) series.changes = differential::change_points(series.mean_ns, level);
  // The earliest change comes first, latencies before places.
  std::ranges::stable_sort(all, std::ranges::greater(), [](const Series& series) {
    return std::pair(series.name == "latency", !series.changes.empty());
  });
  const std::size_t needed = differential::values_for_change(level);
  return print_data(options.json ? present::json_text(history_json(all, runs, needed))
                                 : history_text(all, runs, needed));
}

}  // namespace

Action define_history(Arguments& arguments) {
  auto options = std::make_shared<HistoryOptions>();
  arguments
      .add_option("traces", options->paths,
                  "Traces in the order in which they were recorded; or one, which is looked into")
      .type_name("FILE")
      .expected(1, 10'000)
      .required();
  options->traces.define_options(arguments);
  define_level(arguments, options->level);
  arguments.add_flag("--json", options->json, "One JSON object instead of text");
  arguments.footer(
      "Each trace counts as one value, the mean of all its packets. A change is a trace from which "
      "on the means are on another level: the split at which ranks differ most, by permutations of "
      "the traces, with the level divided by the number of rows.\n"
      "A single trace that stands out is no change of level.\n"
      "\n"
      "In a single trace blocks are compared instead, each so long that packets of one block do "
      "not resemble those of the next. A change is shown with its time since the trace's "
      "beginning, which is known to a block.\n"
      "\n"
      "Examples:\n"
      "  sojourn history nightly-*.sjt\n"
      "  sojourn history run.sjt\n"
      "\n"
      "docs/differential.md says how many traces, or blocks, it takes.");
  return [options] { return run(*options); };
}

}  // namespace sojourn::cli
