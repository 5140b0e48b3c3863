// JSON that sampled queues and queues from events have in common.
#pragma once

#include <optional>

#include <nlohmann/json.hpp>

#include "analysis/queues/depth_histogram.h"
#include "analysis/queues/depth_series.h"

namespace sojourn::present {

inline nlohmann::ordered_json optional_json(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

// Adds the time at each depth, and the depth over time.
void add_details(nlohmann::ordered_json& object, const queues::DepthHistogram& levels,
                 const queues::DepthSeries& series);

}  // namespace sojourn::present
