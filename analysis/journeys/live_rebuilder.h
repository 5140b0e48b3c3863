// Rebuilds journeys while their events are still coming, as the Rebuilder does from a whole trace.
// Events come in each stream's order; once all streams have told everything up to an instant, the
// watermark, they are put into time order and rebuilt up to there. What comes for a time before the
// watermark is counted and left out. Memory is that of the Rebuilder and of what is waiting for the
// watermark. One thread owns a LiveRebuilder.
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
  // What is done to events in time order before they are rebuilt.
  using Prepare = std::function<void(model::EventBatch&)>;

  // The marks without a close. What happened before the open mark is not known: journeys from
  // before are censored.
  static Result<LiveRebuilder> create(const model::Schema& schema, const Rules& rules,
                                      CaptureMarks marks, Observer& observer, Prepare prepare = {});

  void take(const model::EventBatch& events);
  void advance(std::uint64_t watermark_ns);
  void finish();  // rebuilds what is waiting, and closes what is open

  std::uint64_t late() const { return late_; }
  std::size_t waiting() const { return waiting_.size(); }

 private:
  LiveRebuilder(std::vector<bool> is_of_target, Rebuilder rebuilder, Prepare prepare)
      : is_of_target_(std::move(is_of_target)),
        rebuilder_(std::move(rebuilder)),
        prepare_(std::move(prepare)) {}

  std::vector<bool> is_of_target_;  // by point: only those belong to journeys
  Rebuilder rebuilder_;
  Prepare prepare_;
  model::EventBatch waiting_;
  std::uint64_t watermark_ns_ = 0;
  std::uint64_t late_ = 0;
};

}  // namespace sojourn::journeys
