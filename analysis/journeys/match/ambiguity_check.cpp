#include "analysis/journeys/match/ambiguity_check.h"

#include <algorithm>

namespace sojourn::journeys {
namespace {

// If a segment has no beginning, a loss at most this long ago is taken for the reason.
constexpr std::uint64_t kReasonNs = 1'000'000'000;

void call_ambiguous(Match& match, AmbiguityReason why) {
  match.doubts |= why;
}

// The unit is tied to a parent that left before, neither by its bytes nor by its process.
bool is_of_used(const Match& match) {
  return match.relation == Relation::kBranch ||
         (match.relation == Relation::kRepeat && !match.has_bytes);
}

}  // namespace

void AmbiguityCheck::judge_all(const Unit& unit, const PointPlan& plan, Match& match) const {
  if (match.takes_back &&
      losses_.between(match.parents.front()->ts_ns, unit.ts_ns, plan.direction)) {
    match.clear();  // its own parent was lost
  } else if (match.latest != nullptr) {
    judge_latest(unit, plan, match);
  } else if (is_of_used(match)) {
    // If its own parent was lost, this parent is another transmission or another unit of the
    // number.
    const auto& parent = *match.parents.front();
    const auto& pair = topology_.pair(parent.point, unit.point);
    if (!pair.unpacks_block() && losses_.between(parent.ts_ns, unit.ts_ns, plan.direction))
      call_ambiguous(match, kLateBranch);
  } else if (match.relation == Relation::kTakes) {
    if (match.stranger == nullptr && !losses_.since(match.parents.front()->ts_ns)) return;
    judge_wait(unit, plan, match);
    if (plan.length && !match.parents.empty()) judge_pieces(unit, plan, match);
  }
}

// A parent that waited far longer than any before it may have left unseen, and its number may have
// been used again.
void AmbiguityCheck::judge_wait(const Unit& unit, const PointPlan& plan, Match& match) const {
  const auto& first = *match.parents.front();
  const auto waited_ns = unit.ts_ns - std::min(unit.ts_ns, first.entered_ns);
  const auto& stay = longest_stays_[*topology_.points[first.point].place];
  if (!stay.is_suspicious(waited_ns) || !losses_.between(first.ts_ns, unit.ts_ns, plan.direction))
    return;
  if (stay.is_stale(waited_ns))
    match.clear();
  else
    call_ambiguous(match, kLongWait);
}

// The unit is matched to the latest unit of its HARQ process that was seen. That one is surely
// wrong if its round is not before the unit's, or if it left the input already.
void AmbiguityCheck::judge_latest(const Unit& unit, const PointPlan& plan, Match& match) const {
  const auto& latest = *match.latest;
  if (!losses_.between(latest.ts_ns, unit.ts_ns, plan.direction)) return;
  const auto& before = topology_.points[latest.point];
  const bool further =
      match.relation == Relation::kRepeat &&
      !plan.harq.may_follow({latest.values, before.values}, {unit.values, plan.values});
  if (further || (plan.input && latest.is(kLeft)))
    match.clear();
  else
    call_ambiguous(match, kProcess);
}

// If segments overlap, or the joined units have more bytes than the unit, some of the segments may
// have been dropped unseen.
void AmbiguityCheck::judge_pieces(const Unit& unit, const PointPlan& plan, Match& match) const {
  const auto& first = *match.parents.front();
  if (const auto* const left = match.stranger) {
    const auto before_ns = left->ts_ns - std::min(left->ts_ns, kReasonNs);
    if (losses_.between(std::max(before_ns, open_ns_), unit.ts_ns, plan.direction))
      call_ambiguous(match, kStranger);
  }
  const bool joins = topology_.pair(first.point, unit.point).reassembles();
  if (!joins && match.parents.size() == 1) return;
  std::uint64_t bytes = 0;
  for (const auto* parent : match.parents) {
    const auto length = topology_.points[parent->point].length;
    if (!length) return;
    bytes += parent->values[*length];
  }
  if (bytes > unit.values[*plan.length] && losses_.between(first.ts_ns, unit.ts_ns, plan.direction))
    call_ambiguous(match, kOverlap);
}

}  // namespace sojourn::journeys
