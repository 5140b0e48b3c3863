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
#include "analysis/journeys/journey.h"
#include "analysis/journeys/losses.h"
#include "analysis/journeys/rules.h"
#include "analysis/journeys/topology.h"
#include "analysis/journeys/totals.h"
#include "analysis/model/event.h"

namespace sojourn::journeys {

// The instants between which every event is in the trace or in its ledger; 0: not known.
struct Marks {
  std::uint64_t open_ns = 0;
  std::uint64_t close_ns = 0;
  std::vector<std::uint64_t> first_seqs = {};  // by stream, see Losses
  std::vector<LossSpan> losses = {};  // that no gap in the sequence numbers will tell, in any order
  // By stream: of which processes it is. Units of different groups have nothing to do with each
  // other, whatever their ids say. Where it has no entry: 0.
  std::vector<std::uint16_t> groups = {};
};

class Rebuilder {
 public:
  // With a direction: only journeys of that. Units of different directions never meet, so two
  // rebuilders that both see all events find what one does that sees them. Journeys have ids
  // of their own then.
  static Result<Rebuilder> create(const model::Schema& schema, const Rules& rules, Marks marks,
                                  Observer& observer,
                                  std::optional<model::Direction> only = std::nullopt);
  Rebuilder(Rebuilder&&) noexcept;
  Rebuilder& operator=(Rebuilder&&) noexcept;
  ~Rebuilder();

  void consume(const model::EventBatch& events);
  // Closes what is still open. Nothing may be consumed afterwards.
  void finish();

  const Topology& topology() const;
  const Totals& totals() const;

 private:
  class State;
  explicit Rebuilder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sojourn::journeys
