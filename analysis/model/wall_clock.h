// Converts a trace's stamps to wall-clock time, by the last clock pair before each: the wall clock
// may be stepped between two pairs, and interpolating across a step would be wrong everywhere.
// Immutable; may be shared between threads.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/model/capture_info.h"

namespace sojourn::model {

class WallClock {
 public:
  explicit WallClock(std::vector<ClockPair> pairs);

  bool known() const { return !pairs_.empty(); }
  // Requires known().
  std::uint64_t realtime_ns(std::uint64_t ts_ns) const;
  // The inverse. For a time that occurred twice, because the clock was set back, it is the later
  // one. Times before the trace's clock began wrap around.
  std::uint64_t ts_ns(std::uint64_t realtime_ns) const;

 private:
  std::vector<ClockPair> pairs_;
};

}  // namespace sojourn::model
