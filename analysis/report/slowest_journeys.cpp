#include "analysis/report/slowest_journeys.h"

#include <cstddef>

namespace sojourn::report {

void SlowestJourneys::on_journey(const journeys::Journey& journey) {
  if (!journey.has_latency()) return;
  const auto* const slowest = of(journey.direction);
  if (slowest != nullptr && journey.latency_ns() <= slowest->latency_ns()) return;
  auto& kept = slowest_[static_cast<std::size_t>(journey.direction)];
  kept.clear();
  kept.add(journey);
}

const journeys::Journey* SlowestJourneys::of(model::Direction direction) {
  auto& kept = slowest_[static_cast<std::size_t>(direction)];
  return kept.size() == 0 ? nullptr : &kept[0];
}

}  // namespace sojourn::report
