// A trace as `sojourn live` shows it: a growing one or a complete one. poll() takes new data. At
// the end of each interval of the trace's own time its figures can be shown. One thread owns a
// LiveTrace.
#pragma once

#include <functional>

#include "analysis/base/result.h"
#include "analysis/live/live_rebuild.h"
#include "analysis/live/live_snapshot.h"

namespace sojourn::live {

class LiveTrace {
 public:
  // Called at the end of an interval. Returns false to stop for now.
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
