// The slowest complete journey of each direction, kept while journeys are rebuilt. One thread owns
// a SlowestJourneys.
#pragma once

#include <array>

#include "analysis/journeys/journey.h"
#include "analysis/model/schema.h"
#include "analysis/pipeline/journey_log.h"

namespace sojourn::report {

class SlowestJourneys : public journeys::Observer {
 public:
  bool wants_places() const override { return false; }
  void on_journey(const journeys::Journey& journey) override;

  // Null: none was complete and had a latency. Valid until the next journey.
  const journeys::Journey* of(model::Direction direction);

 private:
  std::array<pipeline::JourneyLog, 4> slowest_;  // one at most in each
};

}  // namespace sojourn::report
