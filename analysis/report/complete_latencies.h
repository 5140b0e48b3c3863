// The latencies of complete packets by direction. Without a given deadline the slowest hundredth of
// each is late. One thread owns a CompleteLatencies.
#pragma once

#include <functional>
#include <utility>

#include "analysis/causes/explainer.h"
#include "analysis/journeys/journey.h"
#include "analysis/report/lateness_analysis.h"
#include "analysis/statistics/distribution.h"
#include "analysis/statistics/slow_from.h"

namespace sojourn::report {

class CompleteLatencies : public journeys::Observer {
 public:
  // `wanted`: which packets count; empty: all.
  explicit CompleteLatencies(causes::Explainer::Wanted wanted) : wanted_(std::move(wanted)) {}

  bool wants_steps() const override { return wanted_ != nullptr; }
  bool wants_places() const override { return false; }
  void on_journey(const journeys::Journey& journey) override {
    if (!journey.has_latency() || (wanted_ && !wanted_(journey))) return;
    (journey.direction == model::Direction::kUplink ? up_ns_ : down_ns_).add(journey.latency_ns());
  }

  const statistics::Distribution& of(model::Direction direction) const {
    return direction == model::Direction::kUplink ? up_ns_ : down_ns_;
  }
  causes::Deadlines deadlines() const {
    return {.down_ns = statistics::slow_from(down_ns_), .up_ns = statistics::slow_from(up_ns_)};
  }

 private:
  causes::Explainer::Wanted wanted_;
  statistics::Distribution down_ns_;
  statistics::Distribution up_ns_;
};

}  // namespace sojourn::report
