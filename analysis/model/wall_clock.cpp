#include "analysis/model/wall_clock.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sojourn::model {

WallClock::WallClock(std::vector<ClockPair> pairs) : pairs_(std::move(pairs)) {
  std::ranges::sort(pairs_, {}, &ClockPair::monotonic_ns);
}

std::uint64_t WallClock::realtime_ns(std::uint64_t ts_ns) const {
  auto pair = std::ranges::upper_bound(pairs_, ts_ns, {}, &ClockPair::monotonic_ns);
  if (pair != pairs_.begin()) --pair;
  return pair->realtime_ns + (ts_ns - pair->monotonic_ns);
}

std::uint64_t WallClock::ts_ns(std::uint64_t realtime_ns) const {
  auto pair = pairs_.rbegin();
  while (pair->realtime_ns > realtime_ns && std::next(pair) != pairs_.rend()) ++pair;
  return pair->monotonic_ns + (realtime_ns - pair->realtime_ns);
}

}  // namespace sojourn::model
