// Rebuilds journeys while their events are still coming, as the Rebuilder does from a whole trace.
// Events come in the order of each stream. The watermark is an instant up to which all streams have
// delivered everything: events before it are put into time order and rebuilt. An event that comes
// later, with a stamp before the watermark, is counted and left out. Memory is that of the
// Rebuilder and of the events after the watermark. One thread owns a LiveRebuilder.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/journeys/journey.h"
#include "analysis/journeys/rebuilder.h"
#include "analysis/journeys/rules.h"
#include "analysis/model/event.h"

namespace sojourn::journeys {

class LiveRebuilder {
 public:
  // Called with events in time order before they are rebuilt; may change them.
  using Prepare = std::function<void(model::EventBatch&)>;
  // Called with them once they are rebuilt, and with all other events of that time among them.
  using After = std::function<void(const model::EventBatch&)>;

  // The marks have no close. Journeys from before the open mark are censored.
  static Result<LiveRebuilder> create(const model::Schema& schema, const Rules& rules,
                                      CaptureMarks marks, Observer& observer, Prepare prepare = {},
                                      After after = {});

  void take(const model::EventBatch& events);
  void advance(std::uint64_t watermark_ns);
  void finish();  // rebuilds all events that wait, and closes all journeys
  // The events that wait, for a rebuilder that takes the place of this one.
  model::EventBatch take_waiting() { return std::exchange(waiting_, {}); }

  std::uint64_t late() const { return late_; }
  std::size_t waiting() const { return waiting_.size(); }

 private:
  LiveRebuilder(std::vector<bool> is_of_target, Rebuilder rebuilder, Prepare prepare, After after)
      : is_of_target_(std::move(is_of_target)),
        rebuilder_(std::move(rebuilder)),
        prepare_(std::move(prepare)),
        after_(std::move(after)) {}

  std::vector<bool> is_of_target_;  // by point; events of others belong to no journey
  Rebuilder rebuilder_;
  Prepare prepare_;
  After after_;
  model::EventBatch waiting_;
  std::uint64_t watermark_ns_ = 0;
  std::uint64_t late_ = 0;
};

}  // namespace sojourn::journeys
