#include "analysis/exports/journey_choice.h"

#include "analysis/exports/mixed_bits.h"

namespace sojourn::exports {

void JourneyChoice::on_journey(const journeys::Journey& journey) {
  ++seen_;
  if (journey.has_latency() && worst_ != 0) {
    Slowest& slowest = slowest_.at(journey.direction == model::Direction::kUplink ? 1 : 0);
    slowest.emplace(journey.latency_ns(), journey.id);
    if (slowest.size() > worst_) slowest.pop();
  }
  if (sample_ == 0) return;
  const Ranked ranked(mixed_bits(journey.id), journey.id);
  if (sampled_.size() == sample_ && ranked > sampled_.top()) return;
  sampled_.push(ranked);
  if (sampled_.size() > sample_) sampled_.pop();
}

void JourneyChoice::finish() {
  for (Slowest& slowest : slowest_)
    for (; !slowest.empty(); slowest.pop()) chosen_.emplace(slowest.top().second, "worst");
  for (; !sampled_.empty(); sampled_.pop()) chosen_.emplace(sampled_.top().second, "sample");
}

std::string_view JourneyChoice::why(std::uint64_t journey) const {
  const auto found = chosen_.find(journey);
  return found == chosen_.end() ? std::string_view() : found->second;
}

}  // namespace sojourn::exports
