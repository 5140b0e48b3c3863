// A trace's stamps as the wall's time: by the last clock pair before each, since the wall's clock
// may be stepped between two pairs, and a line drawn through a step would be wrong everywhere.
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
  // Only where known().
  std::uint64_t realtime_ns(std::uint64_t ts_ns) const;
  // The other way. A time that the wall showed twice, as its clock was set back, is the later one.
  // Times before the trace's clock began wrap around.
  std::uint64_t ts_ns(std::uint64_t realtime_ns) const;

 private:
  std::vector<ClockPair> pairs_;
};

}  // namespace sojourn::model
