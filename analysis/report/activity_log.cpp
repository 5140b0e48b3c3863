#include "analysis/report/activity_log.h"

#include <algorithm>
#include <unordered_set>

namespace sojourn::report {

using journeys::Meanwhile;

ActivityLog::ActivityLog(const model::Schema& schema, std::size_t most) : most_(most) {
  const auto& points = schema.points;
  first_ = static_cast<std::size_t>(
      std::ranges::find(points, model::Direction::kScript, &model::Point::direction) -
      points.begin());
  for (std::size_t id = first_; id < points.size(); ++id)
    durations_.push_back(points[id].field(model::kDurationField).value_or(kNoDuration));
}

void ActivityLog::on_events(const model::EventBatch& events) {
  if (is_empty()) return;
  for (std::size_t row = 0; row < events.size(); ++row) {
    const std::size_t point = events.point()[row];
    if (point < first_ || point - first_ >= durations_.size()) continue;
    const model::EventView event = events[row];
    const std::size_t duration = durations_[point - first_];
    const std::uint64_t took_ns = duration == kNoDuration ? 0 : event.values[duration];
    by_thread_[event.tid].push_back({.point = event.point,
                                     .tid = event.tid,
                                     .begin_ns = event.ts_ns - std::min(took_ns, event.ts_ns),
                                     .end_ns = event.ts_ns,
                                     .values = {event.values.begin(), event.values.end()}});
    order_.push_back(event.tid);
    if (order_.size() <= most_) continue;
    auto& oldest = by_thread_[order_.front()];
    forgotten_ns_ = oldest.front().end_ns;
    oldest.pop_front();
    if (oldest.empty()) by_thread_.erase(order_.front());
    order_.pop_front();
  }
}

// A journey begins with a step that ends no stay: what was made by its event belongs to it.
ActivityLog::Found ActivityLog::around(const journeys::Journey& journey) const {
  Found found;
  if (is_empty()) return found;
  found.lacks_some = forgotten_ns_ >= journey.start_ns;
  std::unordered_set<const Meanwhile*> known;  // stays of several units may overlap
  for (std::uint32_t at = 0; at < journey.steps.size(); ++at) {
    const journeys::Step& step = journey.steps[at];
    const auto of_thread = by_thread_.find(step.tid);
    if (of_thread == by_thread_.end()) continue;
    std::uint64_t from_ns = step.ts_ns;
    for (const std::uint32_t parent : step.parents)
      from_ns = std::min(from_ns, journey.steps[parent].ts_ns);
    const auto& all = of_thread->second;
    for (auto one = std::ranges::lower_bound(all, from_ns, {}, &Meanwhile::end_ns);
         one != all.end() && one->end_ns <= step.ts_ns; ++one) {
      if (!known.insert(&*one).second) continue;
      if (found.made.size() == kMostOfJourney) {
        found.lacks_some = true;
        return found;
      }
      found.made.push_back(*one);
      found.made.back().step = at;
    }
  }
  return found;
}

void JourneysWithActivities::on_journey(const journeys::Journey& journey) {
  journeys::Journey told = journey;
  const ActivityLog::Found meanwhile = log_.around(journey);
  meanwhile.put_into(told);
  observer_.on_journey(told);
}

}  // namespace sojourn::report
