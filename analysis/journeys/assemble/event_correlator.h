// Ties events to each other: makes a unit of each event, finds its parents, and updates journeys
// and life cycles. A rebuilder has one EventCorrelator, or several that share the units among them
// by their ids (Topology::is_divisible). One thread owns it.
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
#include "analysis/journeys/turn.h"
#include "analysis/model/event.h"

namespace sojourn::journeys {

class EventCorrelator {
 public:
  // The state that all correlators of a rebuilder share. It must outlive them.
  struct CorrelatorContext {
    const Topology& topology;
    const Rules& rules;
    const CaptureMarks& marks;
    const Losses& losses;
    std::uint64_t& journeys;  // the latest id of a journey
    Totals& totals;
    Observer& observer;
    PlaceChangeSorter& places;  // reports to the same observer which units enter and leave
    Turn& turn;                 // correlators write the steps of their work there
  };
  // The class behind it is local to one source, so that the compiler sees that each of its steps is
  // called in one place, and inlines them.
  static std::unique_ptr<EventCorrelator> create(const CorrelatorContext& around);

  EventCorrelator() = default;
  EventCorrelator(const EventCorrelator&) = delete;
  EventCorrelator& operator=(const EventCorrelator&) = delete;
  virtual ~EventCorrelator() = default;

  virtual void process(const model::EventView& event, const PointPlan& plan) = 0;
  // Takes an event that belongs to another correlator. Only the last event of its thread is needed.
  // A round above 0 is taken for a repeat, from which a thread does not continue. If that is wrong,
  // a journey may differ in being ambiguous, and in nothing else.
  virtual void pass(const model::EventView& event, const PointPlan& plan) = 0;
  // Gives up the units that waited too long.
  virtual void expire(std::uint64_t now_ns) = 0;
  // Events were lost, so it is not certain any more which unit has which number.
  virtual void doubt_numbers() = 0;
  // Closes all journeys that are still open.
  virtual void finish(const PointHistory& reach, std::uint64_t end_ns) = 0;
};

}  // namespace sojourn::journeys
