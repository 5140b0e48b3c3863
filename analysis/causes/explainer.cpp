#include "analysis/causes/explainer.h"

#include <utility>

namespace sojourn::causes {

using journeys::Journey;
using journeys::Outcome;

Explainer::Explainer(const TraceMetadata& source, const journeys::Topology& topology,
                     const journeys::Rules& rules, const ContextNameTable& names,
                     const Deadlines& deadlines, Wanted wanted, Take take, Timeline::Limits limits)
    : topology_(topology),
      names_(source.schema),
      deadlines_(deadlines),
      wanted_(std::move(wanted)),
      take_(std::move(take)),
      timeline_(source, topology, limits),
      positions_(source.schema, topology, rules),
      classifier_(source.schema, topology, timeline_, positions_, names) {}

// Most packets were not late, and their steps are not needed.
bool Explainer::wants_steps_of(const Journey& journey) const {
  return wanted_ || journey.outcome == Outcome::kDropped ||
         (journey.has_latency() && journey.latency_ns() > deadlines_.of(journey.direction));
}

void Explainer::on_journey(const Journey& journey) {
  const bool is_dropped = journey.outcome == Outcome::kDropped;
  if ((!is_dropped && journey.outcome != Outcome::kComplete) || (wanted_ && !wanted_(journey)))
    return;
  if (is_dropped) {
    ++dropped_[journey.steps[journey.end_step].point];
    return;
  }
  ++(journey.has_latency() ? complete_ : at_one_point_);
  if (!journey.has_latency()) return;
  if (journey.latency_ns() <= deadlines_.of(journey.direction)) return;
  ++late_;
  pending_.push_back(critical_path_of(journey, topology_, names_));
}

void Explainer::consume(const model::EventBatch& events) {
  timeline_.consume(events);
  classify_pending();
  positions_.forget(timeline_.begin_ns());
}

void Explainer::classify_pending() {
  for (const CriticalPath& way : pending_) {
    if (way.verdict.start_ns < timeline_.begin_ns())
      ++forgotten_;
    else
      take_(classifier_.classify(way));
  }
  pending_.clear();
}

}  // namespace sojourn::causes
