#include "analysis/present/queues/depth_json.h"

#include <utility>

namespace sojourn::present {

using nlohmann::ordered_json;

namespace {

ordered_json series_json(const queues::DepthSeries& series) {
  ordered_json mean = ordered_json::array();
  ordered_json max = ordered_json::array();
  for (std::size_t at = 0; at < series.stretches().size(); ++at) {
    const auto known = series.mean(at);
    mean.push_back(known ? ordered_json(*known) : ordered_json());
    max.push_back(known ? ordered_json(series.stretches()[at].max) : ordered_json());
  }
  return {{"begin_ns", series.begin_ns()},
          {"step_ns", series.stretch_ns()},
          {"mean", std::move(mean)},
          {"max", std::move(max)}};
}

}  // namespace

void add_details(ordered_json& object, const queues::DepthHistogram& levels,
                 const queues::DepthSeries& series) {
  ordered_json depths = ordered_json::array();
  for (const auto& [depth, span_ns] : levels.by_depth())
    depths.push_back({{"depth", depth}, {"ns", span_ns}});
  object["depths"] = std::move(depths);
  object["over_time"] = series_json(series);
}

}  // namespace sojourn::present
