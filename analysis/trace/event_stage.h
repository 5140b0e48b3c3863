// A stage between a trace's events in time order and all their users. It may leave events out, give
// them more fields, and add events of points of its own. One thread at a time has an EventStage.
#pragma once

#include <span>

#include "analysis/base/result.h"
#include "analysis/model/event.h"
#include "analysis/model/schema.h"

namespace sojourn::trace {

class EventStage {
 public:
  EventStage() = default;
  EventStage(const EventStage&) = delete;
  EventStage& operator=(const EventStage&) = delete;
  virtual ~EventStage() = default;

  // The schema behind the stage. Points from before it keep their numbers, and their fields come
  // first.
  virtual const model::Schema& schema() const = 0;

  // A pass over all events begins, perhaps one more.
  virtual Result<void> begin(std::span<const model::Stream> streams) = 0;
  // A trace that grows has streams that are new.
  virtual void know_streams(std::span<const model::Stream> streams) = 0;
  // Gets batches in time order with resolved ids, and replaces their contents. The sequence numbers
  // of a stream close up where events are left out, so that this does not look like a loss.
  virtual Result<void> pass(model::EventBatch& events) = 0;
};

}  // namespace sojourn::trace
