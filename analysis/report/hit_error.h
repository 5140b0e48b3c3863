// The error of the time that a hit took of the target, from what a trace says of its hits. No
// state.
#pragma once

#include <algorithm>
#include <cstdint>

#include "analysis/model/capture_info.h"
#include "analysis/model/event.h"

namespace sojourn::report {

// A hit within a target's own work finds colder caches. It takes up to this much more than a hit in
// the calibration's loop, and up to twice as long (docs/tracing-cost.md).
constexpr std::uint64_t kColderCachesPs = 300'000;

// The largest error for a hit of the point; 0: the trace does not say what a hit took.
inline double hit_error_ns(const model::Capture& capture, model::PointId point) {
  if (point >= capture.hit_cost_ps.size()) return 0;
  const std::uint64_t spread_ps =
      point < capture.hit_spread_ps.size() ? capture.hit_spread_ps[point] : 0;
  return static_cast<double>(spread_ps + std::min(capture.hit_cost_ps[point], kColderCachesPs)) /
         1e3;
}

}  // namespace sojourn::report
