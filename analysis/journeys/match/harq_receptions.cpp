#include "analysis/journeys/match/harq_receptions.h"

#include <algorithm>
#include <ranges>

namespace sojourn::journeys {
namespace {

// The most points with rounds in a reception.
constexpr int kMaxReception = 16;
// Half of all rounds may be missed. Rounds that repeat nothing, and are this many times as frequent
// as the others, are of another kind.
constexpr std::uint64_t kEnoughAlone = 4;
constexpr std::uint64_t kTimesAlone = 2;
// A single claim proves nothing, since rounds may be missed.
constexpr std::uint32_t kEnoughClaims = 4;
// The number of receptions that must have ended at a point before it shows whether these had
// failed.
constexpr std::uint64_t kEnoughEnds = 16;

HarqPlan::Values values_of(const Unit& unit, const PointPlan& plan) {
  return {unit.values, plan.values};
}

}  // namespace

// If most rounds are alone, the target reports only blocks that it decoded, each by its last round.
bool HarqReceptions::Rounds::of_decoded_only() const {
  return alone >= kEnoughAlone && alone > kTimesAlone * go_on;
}

HarqReceptions::Course HarqReceptions::course_of(const Unit& unit) const {
  const auto* at = &unit;
  for (int step = 0; step < kMaxReception; ++step) {
    const Unit* next = nullptr;
    const auto* const child = store_.newest_child(at, [&](const Unit* one, Interval) {
      if (next == nullptr && topology_.points[one->point].harq.latest) next = one;
      return true;
    });
    if (child == nullptr) return {at->is(kLeft), at->point};
    if (next == nullptr) return {true, at->point};
    at = next;
  }
  return {true, at->point};
}

// A decoded block may contain only padding, so that it has no children. Such a block still went
// farther than blocks that another round follows.
bool HarqReceptions::is_failed(const Unit& unit, const Rounds& rounds) const {
  if (!unit.is(kListed)) return true;  // it was displaced by a unit of its key: see choose()
  const auto [received, farthest] = course_of(unit);
  if (received) return false;
  const auto& here = ends_[farthest];
  const auto& most = ends_[rounds.most_go_on_at];
  const bool seldom = here.all >= kEnoughEnds && 4 * here.go_on < here.all;
  return !seldom || most.all < kEnoughEnds || 2 * most.go_on < most.all;
}

bool HarqReceptions::goes_on(const Unit& earlier, const Unit& child, const PointPlan& plan) const {
  const bool same_length =
      !plan.length || earlier.values[*plan.length] == child.values[*plan.length];
  return plan.harq.may_follow(values_of(earlier, plan), values_of(child, plan)) && same_length &&
         is_failed(earlier, rounds_[child.point]);
}

Unit* HarqReceptions::before(const Unit& child, const PointPlan& plan, Unit* latest, Match& into) {
  auto& rounds = rounds_[child.point];
  const bool of_latest = goes_on(*latest, child, plan);
  find_displaced(child, plan);
  if (!of_latest && !fitting_.empty()) claim(child, plan);
  if (evicted_units_.is_disproved(*plan.harq.latest)) {
    const bool next =
        of_latest && plan.harq.may_be_next(values_of(*latest, plan), values_of(child, plan));
    if (next || (of_latest && fitting_.empty())) fitting_.insert(fitting_.begin(), latest);
    return choose(latest, into);
  }
  into.unsure = !fitting_.empty();
  if (of_latest)
    for (auto* const unit : fitting_) store_.ambiguities().contest(*unit);
  ++(of_latest ? rounds.go_on : rounds.alone);
  if (of_latest && !rounds.of_decoded_only()) return latest;
  into.done = latest;
  return nullptr;
}

void HarqReceptions::find_displaced(const Unit& child, const PointPlan& plan) {
  fitting_.clear();
  if (evicted_units_.empty()) return;
  const auto* const key = evicted_units_.find(*plan.harq.latest, child);
  if (key == nullptr) return;
  for (const auto& one : key->units | std::views::reverse)
    if (!one.unit->is(kGoesOn) &&
        plan.harq.may_be_next(values_of(*one.unit, plan), values_of(child, plan)) &&
        goes_on(*one.unit, child, plan))
      fitting_.push_back(one.unit);
}

void HarqReceptions::claim(const Unit& child, const PointPlan& plan) {
  auto& rounds = rounds_[child.point];
  ++rounds.claims;
  if (rounds.claims >= kEnoughClaims && !rounds.of_decoded_only())
    evicted_units_.disprove(*plan.harq.latest, [](auto&, auto&) {});
}

// Chooses the nearest reception that fits. A reception that is not listed any more may have been
// decoded: its later course is not known.
Unit* HarqReceptions::choose(Unit* latest, Match& into) {
  into.unsure = fitting_.empty() || !fitting_.front()->is(kListed);
  if (fitting_.empty()) {
    into.done = latest;
    return nullptr;
  }
  into.note_others(fitting_ | std::views::drop(1));
  return fitting_.front();
}

void HarqReceptions::replace(Unit* before, const Unit& unit, const PointPlan& plan,
                             std::uint64_t until_ns) {
  auto* const earlier = unit.repeat_of;
  if (earlier != nullptr && !earlier->is(kGoesOn)) {
    earlier->set(kGoesOn);
    const auto farthest = course_of(*earlier).farthest;
    auto& ends = ends_[farthest];
    ++ends.go_on;
    if (earlier == before) ++ends.all;
    auto& most = rounds_[unit.point].most_go_on_at;
    if (ends.go_on > ends_[most].go_on) most = farthest;
  }
  if (before == nullptr || before->is(kGoesOn)) return;
  const auto [received, farthest] = course_of(*before);
  if (received) return;
  ++ends_[farthest].all;
  if (is_failed(*before, rounds_[unit.point]))
    evicted_units_.add(before, *plan.harq.latest, until_ns);
}

}  // namespace sojourn::journeys
