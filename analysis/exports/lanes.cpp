#include "analysis/exports/lanes.h"

#include <algorithm>

namespace sojourn::exports {

std::size_t Lanes::take(std::uint64_t begin_ns, std::uint64_t end_ns) {
  const Span span{.begin_ns = begin_ns, .end_ns = end_ns};
  std::size_t lane = 0;
  while (lane < lanes_.size() && !try_take(lanes_[lane], span)) ++lane;
  if (lane == lanes_.size()) lanes_.emplace_back().spans.push_back(span);
  return lane;
}

// Stays that only meet at an instant touch: which of the two a viewer sees first is not sure.
bool Lanes::try_take(Lane& lane, const Span& span) {
  if (!lane.is_new && span.begin_ns <= lane.forgotten_ns) return false;
  // Most stays come behind all others.
  const auto next = lane.spans.back().end_ns < span.begin_ns
                        ? lane.spans.end()
                        : std::ranges::upper_bound(lane.spans, span.begin_ns, {}, &Span::begin_ns);
  if (next != lane.spans.end() && next->begin_ns <= span.end_ns) return false;
  if (next != lane.spans.begin() && (next - 1)->end_ns >= span.begin_ns) return false;
  lane.spans.insert(next, span);
  if (lane.spans.size() > kMaxRemembered) {
    lane.is_new = false;
    lane.forgotten_ns = lane.spans.front().end_ns;
    lane.spans.pop_front();
  }
  return true;
}

}  // namespace sojourn::exports
