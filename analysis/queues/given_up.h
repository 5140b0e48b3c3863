// The share of a place's depth that comes from units that were never seen to leave. Their true end
// is unknown, so they count as inside until they are given up. A depth that is mostly due to such
// units means nothing. `queues` and `report` both use this rule. One thread owns a GivenUp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "analysis/journeys/max_span.h"

namespace sojourn::queues {

class GivenUp {
 public:
  // A unit was seen to leave.
  void left(std::uint64_t entered_ns, std::uint64_t left_ns) {
    longest_.note(left_ns - entered_ns);
    newest_left_ns_ = std::max(newest_left_ns_, entered_ns);
  }
  // A unit that entered then is given up. `now_ns` may not go back.
  void add(std::uint64_t entered_ns, std::uint64_t now_ns) {
    if (last_ns_ != now_ns) {
      gone_ += std::exchange(lingering_, 0);
      gone_ns_ += std::exchange(lingered_ns_, 0);
    }
    last_ns_ = now_ns;
    const bool is_gone = must_have_left(entered_ns, now_ns);
    ++(is_gone ? gone_ : lingering_);
    (is_gone ? gone_ns_ : lingered_ns_) += static_cast<double>(now_ns - entered_ns);
  }

  // The units that were given up before the end, and those that were given up at the end after a
  // far longer stay than that of any unit that left.
  std::uint64_t count(std::uint64_t end_ns) const {
    return gone_ + (last_ns_ == end_ns ? 0 : lingering_);
  }
  // Their share of the time that all units spent inside, of which the mean depth is made.
  double share(std::uint64_t end_ns, double all_ns) const {
    const double theirs_ns = gone_ns_ + (last_ns_ == end_ns ? 0 : lingered_ns_);
    return all_ns > 0 ? std::min(1.0, theirs_ns / all_ns) : 0;
  }
  static bool leaves_depth(double share) { return share < kTooMuch; }

 private:
  static constexpr double kTooMuch = 0.1;

  // If no unit that came later has left, the server may have stopped, and the unit may be inside.
  bool must_have_left(std::uint64_t entered_ns, std::uint64_t now_ns) const {
    return entered_ns < newest_left_ns_ && longest_.is_stale(now_ns - entered_ns);
  }

  journeys::MaxSpan longest_;         // of the stays
  std::uint64_t newest_left_ns_ = 0;  // when the newest of those that left had entered
  std::uint64_t last_ns_ = 0;         // when some were given up
  std::uint64_t lingering_ = 0;       // units that may have been inside
  double lingered_ns_ = 0;
  std::uint64_t gone_ = 0;  // units that were not inside, and all that were given up before
  double gone_ns_ = 0;
};

}  // namespace sojourn::queues
