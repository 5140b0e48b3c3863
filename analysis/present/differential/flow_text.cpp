#include "analysis/present/differential/flow_text.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/present/differential/p_text.h"
#include "analysis/present/words/table.h"
#include "analysis/present/words/text_format.h"

namespace sojourn::present {
namespace {

using nlohmann::ordered_json;

std::string pairs_text(const std::vector<differential::FlowEdge>& edges, std::string_view title,
                       std::size_t width) {
  if (edges.empty()) return "";
  Table table({std::string(title), "", "packets", "first", "second"});
  table.left(1);
  table.spare(4);
  table.spare(3);
  for (const differential::FlowEdge& edge : edges)
    table.row({"  " + printable(edge.from), printable(edge.to), count(edge.packets),
               count(edge.before), count(edge.after)});
  return table.text(width) + "\n";
}

// Says how near two stamps of one host of a merged trace order nothing.
std::string within_hosts(const differential::RunFigures& run) {
  if (run.host_clock_errors_ns.empty()) return "";
  const std::uint64_t error_ns = std::ranges::max(run.host_clock_errors_ns);
  if (error_ns == 0) return ", those of one host have its clock's order";
  return ", on one host nearer than " + duration(static_cast<double>(error_ns));
}

std::string graph_text(const differential::FlowOfDirection& flow,
                       const differential::RunFigures& run, std::size_t width) {
  std::string text = wrapped(
      fmt::format("flow of {}: {} packets; stamps of two threads nearer than {} order nothing{}",
                  flow.direction, count(flow.packets),
                  duration(static_cast<double>(run.clock_error_ns)), within_hosts(run)),
      2, width);
  text += "\n";
  Table table({"from", "to", "packets", "too near", "evidence"});
  table.left(1);
  table.left(4);
  table.spare(3);
  for (const differential::FlowEdge& edge : flow.edges)
    table.row({"  " + printable(edge.from), printable(edge.to), count(edge.packets),
               edge.too_near == 0 ? "-" : count(edge.too_near), edge.evidence()});
  text += table.text(width) + "\n";
  text += pairs_text(flow.by_chance, "in this order by chance: nothing ties them", width);
  return text + pairs_text(flow.either, "in either order", width);
}

std::string between_runs(const differential::SegmentRanking& ranking,
                         const differential::RankedSegment& segment) {
  if (ranking.runs < 2) return "-";
  if (!segment.p) return "too little data";
  return fmt::format("{} ({})",
                     segment.between_runs == differential::Verdict::kChanged ? "different" : "same",
                     p_text(*segment.p, segment.adjusted_p));
}

std::string ranking_text(const differential::SegmentRanking& ranking, std::size_t width) {
  std::string text = wrapped(
      fmt::format("what decides the latency of {}: {} packets of {} run{}, mean {}, p99 {}; they "
                  "say as much as {} independent ones",
                  ranking.direction, count(ranking.packets), ranking.runs,
                  ranking.runs == 1 ? "" : "s", duration(ranking.mean_ns), duration(ranking.p99_ns),
                  count(static_cast<std::uint64_t>(ranking.effective))),
      2, width);
  text += "\n";
  Table table({"segment", "packets", "share", "median", "Pearson", "Spearman",
               "mean, p99 if at most its median", "between runs"});
  table.left(7);
  table.spare(1);
  table.spare(4);
  table.spare(6, "mean, p99 if at most its median");
  for (const differential::RankedSegment& segment : ranking.segments)
    table.row({"  " + printable(segment.name), count(segment.packets), percent(segment.share),
               duration(segment.median_ns),
               correlation_text(segment.pearson, segment.has_intervals),
               correlation_text(segment.spearman, segment.has_intervals),
               duration(segment.mean_if_median_ns) + ", " + duration(segment.p99_if_median_ns),
               between_runs(ranking, segment)});
  return text + table.text(width) + "\n";
}

ordered_json edges_json(const std::vector<differential::FlowEdge>& edges) {
  ordered_json all = ordered_json::array();
  for (const differential::FlowEdge& edge : edges)
    all.push_back({{"from", edge.from},
                   {"to", edge.to},
                   {"packets", edge.packets},
                   {"before", edge.before},
                   {"after", edge.after},
                   {"too_near", edge.too_near},
                   {"by_ids", edge.by_ids},
                   {"by_thread", edge.by_thread},
                   {"by_wakeup", edge.by_wakeup}});
  return all;
}

ordered_json correlation_json(const std::optional<differential::Correlation>& correlation,
                              bool has_interval) {
  if (!correlation) return nullptr;
  ordered_json told = {{"value", correlation->value}};
  if (has_interval) {
    told["low"] = correlation->low;
    told["high"] = correlation->high;
  }
  return told;
}

ordered_json segments_json(const differential::SegmentRanking& ranking) {
  ordered_json all = ordered_json::array();
  for (const differential::RankedSegment& segment : ranking.segments) {
    ordered_json told = {{"name", segment.name},
                         {"packets", segment.packets},
                         {"share", segment.share},
                         {"median_us", segment.median_ns / 1e3},
                         {"pearson", correlation_json(segment.pearson, segment.has_intervals)},
                         {"spearman", correlation_json(segment.spearman, segment.has_intervals)},
                         {"mean_if_median_us", segment.mean_if_median_ns / 1e3},
                         {"p99_if_median_us", segment.p99_if_median_ns / 1e3},
                         {"criticality", criticality(segment)}};
    if (ranking.runs > 1) {
      told["between_runs"] = segment.between_runs == differential::Verdict::kChanged
                                 ? "different"
                                 : name(segment.between_runs);
      told["p"] = segment.p ? ordered_json(segment.adjusted_p) : ordered_json(nullptr);
    }
    all.push_back(std::move(told));
  }
  return all;
}

}  // namespace

std::string correlation_text(const std::optional<differential::Correlation>& correlation,
                             bool has_interval) {
  if (!correlation) return "-";
  if (!has_interval) return fmt::format("{:.2f} [?]", correlation->value);
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", correlation->value, correlation->low,
                     correlation->high);
}

std::string flow_text(const FlowContent& content) {
  std::string text;
  const differential::RunFigures& first = content.runs.front();
  for (const differential::FlowOfDirection& flow : first.flows)
    text += graph_text(flow, first, content.width);
  for (const differential::SegmentRanking& ranking : content.rankings)
    text += ranking_text(ranking, content.width);
  for (const differential::RunFigures& run : content.runs)
    if (run.left_out != 0)
      text += fmt::format("{}: {} packets more were not taken\n", run.path, count(run.left_out));
  if (text.empty()) return "no complete packet, so no flow\n";
  text.pop_back();
  return text;
}

ordered_json flow_json(const FlowContent& content) {
  const differential::RunFigures& first = content.runs.front();
  ordered_json told = {{"clock_error_ns", first.clock_error_ns},
                       {"host_clock_errors_ns", first.host_clock_errors_ns},
                       {"level", content.level}};
  told["runs"] = ordered_json::array();
  for (const differential::RunFigures& run : content.runs)
    told["runs"].push_back(
        {{"path", run.path}, {"events", run.events}, {"packets_left_out", run.left_out}});
  told["flow"] = ordered_json::object();
  for (const differential::FlowOfDirection& flow : first.flows)
    told["flow"][std::string(1, flow.direction)] = {{"packets", flow.packets},
                                                    {"points", flow.points},
                                                    {"edges", edges_json(flow.edges)},
                                                    {"by_chance", edges_json(flow.by_chance)},
                                                    {"either", edges_json(flow.either)}};
  told["segments"] = ordered_json::object();
  for (const differential::SegmentRanking& ranking : content.rankings)
    told["segments"][std::string(1, ranking.direction)] = {{"packets", ranking.packets},
                                                           {"effective", ranking.effective},
                                                           {"mean_us", ranking.mean_ns / 1e3},
                                                           {"p99_us", ranking.p99_ns / 1e3},
                                                           {"ranking", segments_json(ranking)}};
  return told;
}

Graph flow_graph(const FlowContent& content) {
  Graph graph("flow", Graph::NodeNames::kLabels);
  for (const differential::FlowOfDirection& flow : content.runs.front().flows) {
    const auto node = [&](const std::string& point) {
      return graph.node(std::string(1, flow.direction) + " " + point);
    };
    for (const std::string& point : flow.points) node(point);
    for (const differential::FlowEdge& edge : flow.edges)
      graph.edge({.from = node(edge.from), .to = node(edge.to), .label = edge.evidence()});
  }
  return graph;
}

}  // namespace sojourn::present
