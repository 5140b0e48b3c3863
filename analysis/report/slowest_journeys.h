// The slowest complete journey of each direction, in words, kept while journeys are rebuilt. One
// thread owns a SlowestJourneys; the schema must outlive it.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "analysis/journeys/journey.h"
#include "analysis/model/schema.h"

namespace sojourn::report {

class SlowestJourneys : public journeys::Observer {
 public:
  explicit SlowestJourneys(const model::Schema& schema) : schema_(schema) {}

  void on_journey(const journeys::Journey& journey) override;

  // Empty: none was complete and had a latency.
  const std::string& words(model::Direction direction) const {
    return slowest_[static_cast<std::size_t>(direction)].words;
  }

 private:
  struct Slowest {
    std::uint64_t latency_ns = 0;
    std::string words;
  };

  const model::Schema& schema_;
  std::array<Slowest, 4> slowest_;
};

}  // namespace sojourn::report
