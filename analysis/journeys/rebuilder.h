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

// The part of the work of one among several rebuilders, which all see all events: a direction, and
// some shares of its units if the direction is divisible. Units of different directions or shares
// never meet. Facts learnt from the units of one share are not known in another. So the result
// depends on the number of shares, and not on how they are spread over rebuilders.
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
  // Like create(), with a topology that was derived before, by these rules from the events' schema.
  static Rebuilder create_for(std::shared_ptr<const Topology> topology, const Rules& rules,
                              CaptureMarks marks, Observer& observer,
                              std::optional<Partition> only = std::nullopt);
  Rebuilder(Rebuilder&&) noexcept;
  Rebuilder& operator=(Rebuilder&&) noexcept;
  ~Rebuilder();

  void consume(const model::EventBatch& events);
  // Closes the journeys that are still open. No events may follow.
  void finish();

  // The turn of the calls to the observer: the same in all rebuilders that get the same events. It
  // changes with each event, and its address stays the same.
  const Turn& turn() const;
  const Topology& topology() const;
  const Totals& totals() const;

 private:
  class State;
  explicit Rebuilder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sojourn::journeys
