// `sojourn flow`: which point comes before which in every packet, and which places decide the
// latency.
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "analysis/differential/segment_ranking.h"
#include "analysis/present/differential/flow_text.h"
#include "userspace/cli/command.h"
#include "userspace/cli/terminal.h"
#include "userspace/cli/traces_to_compare.h"

namespace sojourn::cli {
namespace {

struct FlowOptions {
  std::vector<std::string> paths;
  TracesToCompare traces;
  double level = 0.05;
  bool counts_false_alarms = false;
  bool json = false;
  bool dot = false;
  bool svg = false;
};

using differential::Adjustment;

std::vector<differential::SegmentRanking> rankings_of(
    const std::vector<differential::RunFigures>& runs, double level, Adjustment adjustment) {
  std::vector<differential::SegmentRanking> rankings;
  for (std::size_t direction = 0; direction < 2; ++direction) {
    std::vector<differential::RunOfPackets> packets;
    packets.reserve(runs.size());
    for (const auto& run : runs) packets.push_back(run.packets[direction]);
    auto ranking = differential::rank_segments("DU"[direction], packets, level, adjustment);
    if (ranking.packets != 0) rankings.push_back(std::move(ranking));
  }
  return rankings;
}

Result<void> run(const FlowOptions& options) {
  SJ_TRY(runs, options.traces.read(options.paths));
  const Adjustment adjustment =
      options.counts_false_alarms ? Adjustment::kBenjaminiHochberg : Adjustment::kHolm;
  const present::FlowContent content = {.runs = runs,
                                        .rankings = rankings_of(runs, options.level, adjustment),
                                        .level = options.level,
                                        .width = line_width()};
  if (options.json)
    fmt::print("{}\n", present::flow_json(content).dump(
                           2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  else if (options.dot || options.svg)
    fmt::print("{}", options.dot ? present::dot_text(present::flow_graph(content))
                                 : present::svg_text(present::flow_graph(content)));
  else
    fmt::print("{}", present::flow_text(content));
  return {};
}

}  // namespace

Action define_flow(Arguments& arguments) {
  auto options = std::make_shared<FlowOptions>();
  arguments
      .add_option("trace", options->paths,
                  "The trace file, e.g. run.sjt. Several traces of runs of the same program show "
                  "which places differ from run to run")
      .type_name("FILE")
      .required();
  options->traces.define_options(arguments);
  define_level(arguments, options->level);
  arguments.add_flag(
      "--false-discovery", options->counts_false_alarms,
      "Between runs: of the places that are called different, at most the level is "
      "false on average (Benjamini and Hochberg). By default the level is the chance "
      "of a single false one (Holm)");
  const Argument dot = arguments.add_flag("--dot", options->dot, "Print the flow for Graphviz");
  const Argument svg =
      arguments.add_flag("--svg", options->svg, "Print the flow as a picture").excludes(dot);
  arguments.add_flag("--json", options->json, "One JSON object instead of text")
      .excludes(dot)
      .excludes(svg);
  arguments.footer(
      "flow          of the first trace: point A is before point B in every packet, nothing is in "
      "between, and something ties the two: ids, one thread, or a wakeup\n"
      "by chance     always in this order, but nothing ties them: no edge\n"
      "share         of the time of all packets that was spent there\n"
      "Pearson, Spearman  how far a packet's time there goes with its latency, with intervals of "
      "95 % from independent blocks. [?]: too little data for an interval\n"
      "if at most its median  the latency, had no packet been there for longer than the median\n"
      "between runs  different: blocks of the runs are of different distributions (k-sample "
      "Anderson-Darling; Holm, or --false-discovery)\n"
      "\n"
      "docs/differential.md explains each number.");
  return [options] { return run(*options); };
}

}  // namespace sojourn::cli
