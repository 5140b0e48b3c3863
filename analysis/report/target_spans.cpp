#include "analysis/report/target_spans.h"

#include <algorithm>
#include <functional>

namespace sojourn::report {
TargetSpans::TargetSpans(const model::Schema& schema)
    : fields_(schema.points.size()), times_ns_(schema.points.size()) {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (schema.points[i].direction != model::Direction::kScalar) continue;
    fields_[i] = schema.points[i].field(model::kDurationField);
    may_be_some_ = may_be_some_ || fields_[i].has_value();
  }
}

void TargetSpans::consume(const model::EventBatch& events) {
  if (!may_be_some_) return;
  for (std::size_t row = 0; row < events.size(); ++row) {
    const auto point = events.point()[row];
    if (point >= fields_.size() || !fields_[point]) continue;
    const auto values = events[row].values;
    if (*fields_[point] < values.size()) times_ns_[point].add(values[*fields_[point]]);
  }
}

bool TargetSpans::empty() const {
  return std::ranges::all_of(times_ns_, [](const auto& times) { return times.count() == 0; });
}

std::vector<TargetSpans::Span> TargetSpans::all() const {
  std::vector<Span> spans;
  for (std::size_t i = 0; i < times_ns_.size(); ++i)
    if (times_ns_[i].count() > 0) spans.push_back({static_cast<model::PointId>(i), &times_ns_[i]});
  std::ranges::stable_sort(spans, std::ranges::greater(),
                           [](const Span& span) { return span.times_ns->sum(); });
  return spans;
}

}  // namespace sojourn::report
