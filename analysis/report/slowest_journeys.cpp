#include "analysis/report/slowest_journeys.h"

#include "analysis/report/journey_text.h"

namespace sojourn::report {

void SlowestJourneys::on_journey(const journeys::Journey& journey) {
  if (!journey.has_latency()) return;
  Slowest& slowest = slowest_[static_cast<std::size_t>(journey.direction)];
  if (!slowest.words.empty() && journey.latency_ns() <= slowest.latency_ns) return;
  slowest = {journey.latency_ns(), to_text(journey, schema_)};
}

}  // namespace sojourn::report
