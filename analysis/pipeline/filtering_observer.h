// Passes on only the journeys for which a predicate is true. Hops are counted from these journeys,
// because a hop is reported before its journey is known. A unit that several packets share counts
// for each. The number of units in a place at once is not known then.
#pragma once

#include <cstdint>
#include <functional>

#include "analysis/journeys/journey.h"
#include "analysis/journeys/topology.h"

namespace sojourn::pipeline {

class FilteringObserver : public journeys::Observer {
 public:
  using Predicate = std::function<bool(const journeys::Journey&)>;

  // All must outlive it.
  FilteringObserver(journeys::Observer& to, const journeys::Topology& topology, Predicate keep)
      : to_(to), topology_(topology), keep_(std::move(keep)) {}

  bool wants_places() const override { return false; }
  void on_events(const model::EventBatch& events) override { to_.on_events(events); }
  void on_journey(const journeys::Journey& journey) override {
    ++seen_;
    if (!keep_(journey)) return;
    ++kept_;
    to_.on_journey(journey);
    for (const journeys::Step& step : journey.steps) {
      if (step.repeat_of != journeys::kNoStep) continue;
      for (const std::uint32_t parent : step.parents) {
        const journeys::Step& from = journey.steps[parent];
        to_.on_stay({.pair = topology_.pair_index(from.point, step.point),
                     .entered_ns = from.entered_ns,
                     .left_ns = step.ts_ns,
                     .entered_by = from.tid,
                     .left_by = step.tid,
                     .values = step.values,
                     .entered_values = from.values});
      }
    }
  }

  std::uint64_t seen() const { return seen_; }
  std::uint64_t kept() const { return kept_; }

 private:
  journeys::Observer& to_;
  const journeys::Topology& topology_;
  Predicate keep_;
  std::uint64_t seen_ = 0;
  std::uint64_t kept_ = 0;
};

}  // namespace sojourn::pipeline
