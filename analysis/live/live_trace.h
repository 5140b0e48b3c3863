// A trace as `sojourn live` looks at it: one that grows, or one that is complete. It is asked again
// and again for what has come; each time that an interval of the trace's own time is over, its
// figures are there to be shown. One thread owns a LiveTrace.
#pragma once

#include <functional>

#include "analysis/base/result.h"
#include "analysis/live/live_rebuild.h"
#include "analysis/live/live_snapshot.h"

namespace sojourn::live {

class LiveTrace {
 public:
  // An interval is over. False: no more of them now.
  using Tick = std::function<bool()>;

  LiveTrace() = default;
  LiveTrace(const LiveTrace&) = delete;
  LiveTrace& operator=(const LiveTrace&) = delete;
  virtual ~LiveTrace() = default;

  // Takes new data, for a short time only if the trace grows. Returns true if there was some.
  virtual Result<bool> poll(const Tick& tick) = 0;
  // Counts everything that has come, because no more is expected for now.
  virtual Result<void> settle(const Tick& /*tick*/) { return {}; }
  // Returns whether the trace is complete and all of it is in the figures.
  virtual bool has_ended() const = 0;

  virtual Result<void> choose(Choice choice) = 0;
  virtual Snapshot snapshot() const = 0;
};

}  // namespace sojourn::live
