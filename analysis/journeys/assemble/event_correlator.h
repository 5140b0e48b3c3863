// Ties events to each other: makes a unit of each, finds its parents, and lets journeys and lives
// go on. A rebuilder has one EventCorrelator, or several that share the units among them by their
// ids (Topology::is_divisible). One thread owns it.
#pragma once

#include <cstdint>
#include <memory>

#include "analysis/journeys/assemble/point_history.h"
#include "analysis/journeys/capture_marks.h"
#include "analysis/journeys/journey.h"
#include "analysis/journeys/match/losses.h"
#include "analysis/journeys/place_change_sorter.h"
#include "analysis/journeys/rules.h"
#include "analysis/journeys/topology.h"
#include "analysis/journeys/totals.h"
#include "analysis/model/event.h"

namespace sojourn::journeys {

class EventCorrelator {
 public:
  // What all correlators of a rebuilder look at, or add to. It outlives them.
  struct CorrelatorContext {
    const Topology& topology;
    const Rules& rules;
    const CaptureMarks& marks;
    const Losses& losses;
    std::uint64_t& journeys;  // that have an id
    Totals& totals;
    Observer& observer;
    PlaceChangeSorter& places;  // the same observer, for who enters and leaves
  };
  // Nobody else knows the class behind it, so that the compiler sees that each of its steps is
  // called in one place.
  static std::unique_ptr<EventCorrelator> create(const CorrelatorContext& around);

  EventCorrelator() = default;
  EventCorrelator(const EventCorrelator&) = delete;
  EventCorrelator& operator=(const EventCorrelator&) = delete;
  virtual ~EventCorrelator() = default;

  virtual void process(const model::EventView& event, const PointPlan& plan) = 0;
  // Another correlator's: only what its thread did last is of interest. A round is taken for the
  // repeat that it nearly always is, which a thread does not go on from; were it none, the most
  // that differs is that a journey is called ambiguous.
  virtual void pass(const model::EventView& event, const PointPlan& plan) = 0;
  // Gives up what nothing comes of any more.
  virtual void expire(std::uint64_t now_ns) = 0;
  // Events were lost: whose numbers are whose is not sure any more.
  virtual void doubt_numbers() = 0;
  // Closes what is still open.
  virtual void finish(const PointHistory& reach, std::uint64_t end_ns) = 0;
};

}  // namespace sojourn::journeys
