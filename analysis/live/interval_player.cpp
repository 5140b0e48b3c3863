#include "analysis/live/interval_player.h"

#include <algorithm>
#include <cstddef>

namespace sojourn::live {

bool IntervalPlayer::end_interval(LiveRebuild& rebuild, const LiveTrace::Tick& tick) {
  rebuild.advance(next_ns_);
  events_per_s_ = static_cast<double>(events_) * 1e9 / static_cast<double>(interval_ns_);
  events_ = 0;
  next_ns_ += interval_ns_;
  return tick();
}

bool IntervalPlayer::play(LiveRebuild& rebuild, const model::EventBatch& events,
                          const LiveTrace::Tick& tick) {
  std::size_t first = 0;
  while (first < events.size()) {
    const auto rest = events.ts_ns().subspan(first);
    const auto count =
        static_cast<std::size_t>(std::ranges::lower_bound(rest, next_ns_) - rest.begin());
    events_ += count;
    if (count == events.size()) {
      rebuild.consume(events);
      return true;
    }
    if (count != 0) {
      model::EventBatch part;
      part.append(events, first, count);
      rebuild.consume(part);
      first += count;
    }
    if (first < events.size() && !end_interval(rebuild, tick)) return false;
  }
  return true;
}

bool IntervalPlayer::reach(LiveRebuild& rebuild, std::uint64_t now_ns,
                           const LiveTrace::Tick& tick) {
  while (now_ns >= next_ns_)
    if (!end_interval(rebuild, tick)) return false;
  return true;
}

}  // namespace sojourn::live
