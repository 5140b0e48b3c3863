#include "analysis/report/activities.h"

#include <algorithm>

namespace sojourn::report {

Activities::Activities(const model::Schema& schema) {
  const auto& points = schema.points;
  first_ = static_cast<std::size_t>(
      std::ranges::find(points, model::Direction::kScript, &model::Point::direction) -
      points.begin());
  for (std::size_t id = first_; id < points.size(); ++id) {
    const auto point = static_cast<model::PointId>(id);
    const auto duration = points[id].field(model::kDurationField);
    kinds_.push_back({duration ? activities_.size() : markers_.size(), duration});
    if (duration)
      activities_.push_back({.point = point});
    else
      markers_.push_back({.point = point});
  }
}

void Activities::consume(const model::EventBatch& events) {
  if (kinds_.empty()) return;
  for (std::size_t row = 0; row < events.size(); ++row) {
    const std::size_t point = events.point()[row];
    if (point < first_ || point - first_ >= kinds_.size()) continue;
    const auto& [at, duration] = kinds_[point - first_];
    if (duration)
      activities_[at].times_ns.add(events[row].values[*duration]);
    else
      ++markers_[at].count;
  }
}

}  // namespace sojourn::report
