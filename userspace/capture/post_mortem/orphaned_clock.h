// Converts the cycle counter to CLOCK_MONOTONIC for rings whose target is gone. Two readings of
// both define the line: the target's own, and, if this is still the same boot of the same machine,
// one of now, which lies beyond all stamps. error_ns() bounds the error. No state.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <sojourn/ring_abi.h>

#include "analysis/base/result.h"
#include "analysis/model/capture_info.h"
#include "userspace/capture/records/ring_clock.h"

namespace sojourn::capture {

// The target's readings, from its arena.
struct OrphanedReadings {
  sj_clock_reading first{};
  std::optional<sj_clock_reading> newest;
};

// This machine's, the second one some time after the first.
struct ReadingsNow {
  CounterPair first;
  CounterPair second;
  model::ClockPair wall;  // beside the second
};
ReadingsNow read_clocks_now();

struct OrphanedClock {
  RingClock clock;
  bool is_this_boot = false;
  std::vector<model::ClockPair> pairs;  // for the trace

  // The largest error of a time that was converted to this.
  std::uint64_t error_ns(std::uint64_t ts_ns) const;

  double uncertain_slope = 0;      // of a part
  std::uint64_t sure_from_ns = 0;  // between these two the error is not larger than theirs
  std::uint64_t sure_until_ns = 0;
  std::uint64_t reading_error_ns = 0;
};

Result<OrphanedClock> make_left_clock(const OrphanedReadings& left, const ReadingsNow& now);

}  // namespace sojourn::capture
