#include "analysis/journeys/match/mixed_senders.h"

namespace sojourn::journeys {
namespace {

// The number of acquitted suspects after which no journeys are held back any more.
constexpr std::uint32_t kEnoughAcquitted = 64;
// The most suspects at a time, because each keeps the units before it in memory.
constexpr std::size_t kMaxSuspects = 4096;

}  // namespace

void MixedSenders::mix(model::Direction direction) {
  auto& its = side(direction);
  if (its.mixed) return;
  its.mixed = true;
  for (const auto& suspect : its.suspects) {
    auto& unit = *suspect.unit;
    if (unit.is(kAmbiguous)) continue;
    store_.ambiguities().note(unit, {.reasons = kSender});
    ++totals_.points[unit.point].ambiguous;
    doubt_(unit);
  }
}

void MixedSenders::judge(const Unit& child, const PointPlan& plan, Match& match) {
  for (const auto* parent : match.parents) {
    if (!parent->is(kContested)) continue;
    const auto& pair = topology_.pair(parent->point, child.point);
    match.unsure |= pair.key_lacks_owner;
    if (pair.key_lacks_owner && pair.is_by_process()) mix(plan.direction);
  }
  if (match.repeat_of != nullptr) match.unsure |= match.repeat_of->is(kContested);
  if (match.unsure && are_mixed(plan.direction)) match.doubts |= kSender;
}

void MixedSenders::suspect(Unit& unit, std::uint64_t until_ns) {
  auto& its = side(topology_.points[unit.point].direction);
  if (its.acquitted >= kEnoughAcquitted) return;
  unit.set(kSuspected);
  store_.retain(&unit);
  its.suspects.push_back({&unit, until_ns});
  ++suspects_;
  if (its.suspects.size() > kMaxSuspects) acquit_oldest(its);
}

void MixedSenders::acquit_oldest(Side& side) {
  auto* const unit = side.suspects.front().unit;
  side.suspects.pop_front();
  --suspects_;
  ++side.acquitted;
  unit->clear(kSuspected);
  store_.release(unit);
}

}  // namespace sojourn::journeys
