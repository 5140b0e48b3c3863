#include "userspace/cli/history_within.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/present/words/table.h"
#include "analysis/present/words/text_format.h"
#include "userspace/cli/terminal.h"

namespace sojourn::cli {
namespace {

using differential::ChangePoint;
using differential::ChangesWithin;
using differential::RunFigures;
using differential::SeriesWithin;
using nlohmann::ordered_json;
using present::duration;

// Since the trace's beginning.
double seconds(std::uint64_t ns, const RunFigures& run) {
  return ns <= run.begin_ns ? 0 : static_cast<double>(ns - run.begin_ns) / 1e9;
}

std::string changes_text(const SeriesWithin& series, const ChangesWithin& found,
                         const RunFigures& run) {
  std::string text;
  for (const ChangePoint& change : series.changes)
    text += fmt::format("{}{} to {} ({:+.1f} %) from {:.2f} s on (p {:.2g})",
                        text.empty() ? "" : "; ", duration(change.before), duration(change.after),
                        100 * (change.after / change.before - 1),
                        seconds(series.start_ns[change.at], run), change.p);
  if (!text.empty()) return text;
  return series.mean_ns.size() < found.blocks_needed ? "too little data" : "none seen";
}

}  // namespace

std::string history_within_text(const RunFigures& run, const ChangesWithin& found) {
  std::string text =
      present::wrapped(fmt::format("{} ({:.1f} s): means of blocks that are as good as independent",
                                   printable(run.path), static_cast<double>(run.duration_ns) / 1e9),
                       2, line_width()) +
      "\n\n";
  present::Table table(
      {"mean", "blocks", "of packets", "first", "last", "least", "most", "changes"});
  table.left(7);
  table.fold(7);
  table.spare(2);
  bool lacks_data = false;
  for (const SeriesWithin& series : found.series) {
    const auto& means = series.mean_ns;
    lacks_data |= means.size() < found.blocks_needed;
    const auto figure = [&](double value) { return means.empty() ? "-" : duration(value); };
    table.row({fmt::format("{} {}", series.direction, printable(series.name)),
               present::count(means.size()), present::count(series.block_packets),
               figure(means.empty() ? 0 : means.front()), figure(means.empty() ? 0 : means.back()),
               figure(means.empty() ? 0 : std::ranges::min(means)),
               figure(means.empty() ? 0 : std::ranges::max(means)),
               changes_text(series, found, run)});
  }
  text += table.text(line_width());
  if (lacks_data)
    text += fmt::format("\ntoo little data: {} tests take {} blocks to show a change\n",
                        found.series.size(), found.blocks_needed);
  return text;
}

ordered_json history_within_json(const RunFigures& run, const ChangesWithin& found) {
  ordered_json object = {{"trace", run.path},
                         {"build_id", run.build_id},
                         {"duration_s", static_cast<double>(run.duration_ns) / 1e9},
                         {"blocks_needed", found.blocks_needed},
                         {"series", ordered_json::array()}};
  for (const SeriesWithin& series : found.series) {
    ordered_json one = {{"dir", std::string(1, series.direction)},
                        {"name", series.name},
                        {"packets", series.packets},
                        {"packets_per_block", series.block_packets},
                        {"start_s", ordered_json::array()},
                        {"mean_us", ordered_json::array()},
                        {"changes", ordered_json::array()}};
    for (std::size_t block = 0; block < series.mean_ns.size(); ++block) {
      one["start_s"].push_back(seconds(series.start_ns[block], run));
      one["mean_us"].push_back(series.mean_ns[block] * 1e-3);
    }
    for (const ChangePoint& change : series.changes)
      one["changes"].push_back({{"at", change.at},
                                {"at_s", seconds(series.start_ns[change.at], run)},
                                {"at_ns", series.start_ns[change.at]},
                                {"before_us", change.before * 1e-3},
                                {"after_us", change.after * 1e-3},
                                {"p", change.p}});
    object["series"].push_back(std::move(one));
  }
  return object;
}

}  // namespace sojourn::cli
