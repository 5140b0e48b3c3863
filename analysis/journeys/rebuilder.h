// Rebuilds journeys from events in time order, in one pass: time is linear in the events, memory
// bounded by what is in flight (and by the rules' times and limits). docs/journeys.md explains the
// model. Results go to the Observer as they are known; the order and the ids of journeys depend on
// the events alone. One thread owns a Rebuilder.
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
#include "analysis/model/event.h"

namespace sojourn::journeys {

// What one of several rebuilders does that all see all events: a direction, and of its units those
// of some shares, where it is divisible. Units of different directions never meet, nor do those of
// different shares; but what is learnt from units of one is not known in another. So it is their
// number that decides what is found, not who does how many of them.
struct Partition {
  model::Direction direction = model::Direction::kDownlink;
  std::uint32_t shares = 1;  // that there are,
  std::uint32_t begin = 0;   // and those that are its own
  std::uint32_t end = 1;
};

class Rebuilder {
 public:
  // With a part: only journeys of that, which have ids of their own then. Each share has its share
  // of the rules' units.
  static Result<Rebuilder> create(const model::Schema& schema, const Rules& rules,
                                  CaptureMarks marks, Observer& observer,
                                  std::optional<Partition> only = std::nullopt);
  Rebuilder(Rebuilder&&) noexcept;
  Rebuilder& operator=(Rebuilder&&) noexcept;
  ~Rebuilder();

  void consume(const model::EventBatch& events);
  // Closes what is still open. Nothing may be consumed afterwards.
  void finish();

  // At which event it is, the last of all included, or one more at the end: the same in all that
  // are given the same events.
  const std::uint64_t& position() const;
  const Topology& topology() const;
  const Totals& totals() const;

 private:
  class State;
  explicit Rebuilder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sojourn::journeys
