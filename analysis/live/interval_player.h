// Plays events into a rebuild, and stops at the end of each interval of their time. The figures at
// that moment contain all earlier events, and no later ones. One thread owns an IntervalPlayer.
#pragma once

#include <cstdint>

#include "analysis/live/live_rebuild.h"
#include "analysis/live/live_trace.h"
#include "analysis/model/event.h"

namespace sojourn::live {

class IntervalPlayer {
 public:
  IntervalPlayer(std::uint64_t open_ns, std::uint64_t interval_ns)
      : interval_ns_(interval_ns), next_ns_(open_ns + interval_ns) {}

  // In time order. False: the tick wants no more.
  bool play(LiveRebuild& rebuild, const model::EventBatch& events, const LiveTrace::Tick& tick);
  // All events before that were played.
  bool reach(LiveRebuild& rebuild, std::uint64_t now_ns, const LiveTrace::Tick& tick);

  // Events that happened in this interval, and are not played.
  void count(std::uint64_t events) { events_ += events; }

  void fill(Snapshot& snapshot) const { snapshot.events_per_s = events_per_s_; }

 private:
  bool end_interval(LiveRebuild& rebuild, const LiveTrace::Tick& tick);

  std::uint64_t interval_ns_;
  std::uint64_t next_ns_;
  std::uint64_t events_ = 0;  // in this interval
  double events_per_s_ = 0;   // in the last one
};

}  // namespace sojourn::live
