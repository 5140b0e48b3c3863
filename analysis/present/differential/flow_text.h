// The output of `sojourn flow`: the flow of each direction and the ranking of its segments, as a
// text for people, an object for programs, and a graph.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/differential/run_figures.h"
#include "analysis/differential/segment_ranking.h"
#include "analysis/present/words/graph.h"

namespace sojourn::present {

struct FlowContent {
  std::span<const differential::RunFigures> runs;
  std::vector<differential::SegmentRanking> rankings;  // by direction that has packets
  double level = 0.05;
  std::size_t width = SIZE_MAX;
};

std::string flow_text(const FlowContent& content);
nlohmann::ordered_json flow_json(const FlowContent& content);
// The flow of the first run.
Graph flow_graph(const FlowContent& content);

// "0.87 [0.81, 0.92]", or "-" if there is none.
std::string correlation_text(const std::optional<differential::Correlation>& correlation,
                             bool has_interval);

}  // namespace sojourn::present
