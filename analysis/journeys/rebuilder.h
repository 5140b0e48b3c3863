// Rebuilds journeys from events in time order, in one pass. Time is linear in the events. Memory is
// bounded by the units in flight, and by the times and limits of the rules. docs/journeys.md
// explains the model. Results go to the Observer as they become known. The order and the ids of
// journeys depend on the events alone. One thread owns a Rebuilder.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/journeys/capture_marks.h"
#include "analysis/journeys/journey.h"
#include "analysis/journeys/rules.h"
#include "analysis/journeys/topology.h"
#include "analysis/journeys/totals.h"
#include "analysis/journeys/turn.h"
#include "analysis/model/event.h"

namespace sojourn::journeys {

// The part of one of several rebuilders that all see all events: a direction, and some shares of
// its units where the direction is divisible. Units of different directions or shares never meet,
// but what is learnt from the units of one share is not known in another one. So the number of
// shares decides what is found, and not how many of them a rebuilder has.
struct Partition {
  model::Direction direction = model::Direction::kDownlink;
  std::uint32_t shares = 1;  // of all rebuilders
  std::uint32_t begin = 0;   // its own shares are [begin, end)
  std::uint32_t end = 1;
};

class Rebuilder {
 public:
  // With a partition it rebuilds only the journeys of that, which have ids of their own. Each share
  // may have its part of the rules' `units`.
  static Result<Rebuilder> create(const model::Schema& schema, const Rules& rules,
                                  CaptureMarks marks, Observer& observer,
                                  std::optional<Partition> only = std::nullopt);
  // The same with a topology that was derived before, by these rules from the events' schema.
  static Rebuilder create_for(std::shared_ptr<const Topology> topology, const Rules& rules,
                              CaptureMarks marks, Observer& observer,
                              std::optional<Partition> only = std::nullopt);
  Rebuilder(Rebuilder&&) noexcept;
  Rebuilder& operator=(Rebuilder&&) noexcept;
  ~Rebuilder();

  void consume(const model::EventBatch& events);
  // Closes the journeys that are still open. Nothing may be consumed afterwards.
  void finish();

  // When what is told becomes known: the same in all that are given the same events. It changes
  // with each event, and stays where it is.
  const Turn& turn() const;
  const Topology& topology() const;
  const Totals& totals() const;

 private:
  class State;
  explicit Rebuilder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sojourn::journeys
