// What stands between a trace's events in time order and everybody who looks at them: it may leave
// events out, give them more fields, and add events of points of its own. One thread at a time has
// an EventStage.
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

  // The points behind it. Those before it keep their numbers, and their fields come first.
  virtual const model::Schema& schema() const = 0;

  // A pass over all events begins, perhaps one more.
  virtual Result<void> begin(std::span<const model::Stream> streams) = 0;
  // A trace that grows has streams that are new.
  virtual void know_streams(std::span<const model::Stream> streams) = 0;
  // Batches in time order, ids resolved. Replaces the contents of each. The numbers of a stream's
  // events close up where some are left out, so that nobody takes that for a loss.
  virtual Result<void> pass(model::EventBatch& events) = 0;
};

}  // namespace sojourn::trace
