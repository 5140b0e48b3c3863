// Judges matches around lost events. A lost event may have been the parent of a unit. The match is
// then called ambiguous, or is given up if it cannot be right. One thread owns it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/journeys/match/losses.h"
#include "analysis/journeys/match/match.h"
#include "analysis/journeys/max_span.h"
#include "analysis/journeys/topology.h"

namespace sojourn::journeys {

class AmbiguityCheck {
 public:
  AmbiguityCheck(const Topology& topology, std::uint64_t open_ns, const Losses& losses,
                 const std::vector<MaxSpan>& longest_stays)
      : topology_(topology), open_ns_(open_ns), losses_(losses), longest_stays_(longest_stays) {}

  // Usually no events were lost, and the match stays as it is.
  void judge(const Unit& unit, const PointPlan& plan, Match& match) const {
    if (match.stranger != nullptr || losses_.since(oldest_ns(match))) [[unlikely]]
      judge_all(unit, plan, match);
  }

 private:
  // The time of the earliest unit that the match depends on.
  static std::uint64_t oldest_ns(const Match& match) {
    auto oldest = UINT64_MAX;
    if (match.latest != nullptr) [[unlikely]]
      oldest = match.latest->ts_ns;
    if (!match.parents.empty()) oldest = std::min(oldest, match.parents.front()->ts_ns);
    return oldest;
  }
  void judge_all(const Unit& unit, const PointPlan& plan, Match& match) const;
  void judge_wait(const Unit& unit, const PointPlan& plan, Match& match) const;
  void judge_latest(const Unit& unit, const PointPlan& plan, Match& match) const;
  void judge_pieces(const Unit& unit, const PointPlan& plan, Match& match) const;

  const Topology& topology_;
  std::uint64_t open_ns_;
  const Losses& losses_;
  const std::vector<MaxSpan>& longest_stays_;  // by place
};

}  // namespace sojourn::journeys
