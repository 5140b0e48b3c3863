// The journeys of a trace as columns, a row each: what pictures of all packets are drawn from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "analysis/journeys/journey.h"

namespace sojourn::page {

class JourneyColumns : public journeys::Observer {
 public:
  // Times count from `origin_ns`: a double holds 2^53 ns, and a wall clock has more.
  explicit JourneyColumns(std::uint64_t origin_ns) : origin_ns_(origin_ns) {}

  bool wants_steps() const override { return false; }
  bool wants_order() const override { return false; }
  bool wants_places() const override { return false; }

  void on_journey(const journeys::Journey& journey) override {
    id.push_back(static_cast<double>(journey.id));
    start.push_back(static_cast<double>(static_cast<std::int64_t>(journey.start_ns - origin_ns_)));
    latency.push_back(journey.has_latency() ? static_cast<double>(journey.latency_ns())
                                            : std::numeric_limits<double>::quiet_NaN());
    direction.push_back(static_cast<std::uint8_t>(journey.direction));
    outcome.push_back(static_cast<std::uint8_t>(journey.outcome));
    segments.push_back(small(journey.segments));
    repeats.push_back(small(journey.retransmissions));
  }

  std::vector<double> id;
  std::vector<double> start;
  std::vector<double> latency;  // ns; not a number: it has none
  std::vector<std::uint8_t> direction;
  std::vector<std::uint8_t> outcome;
  std::vector<std::uint8_t> segments;  // 255: so many or more
  std::vector<std::uint8_t> repeats;

 private:
  static std::uint8_t small(std::uint32_t number) {
    return static_cast<std::uint8_t>(std::min<std::uint32_t>(number, UINT8_MAX));
  }

  std::uint64_t origin_ns_;
};

}  // namespace sojourn::page
