#include "analysis/journeys/match/origins.h"

#include <cstdint>

namespace sojourn::journeys {
namespace {

// The maximum number of events between the filling of a block and the removal of a unit from it,
// including all HARQ rounds.
constexpr int kMaxCrossing = 64;

enum class Likeness : std::uint8_t { kUnknown, kDifferent, kSame };

// Compares the bearer, the offset and the number of two units, as far as both have them. At least
// one number must be compared. If a unit has an id several times, any of its values may be equal.
Likeness compare(const Unit& left, const Unit& right, const Topology& topology) {
  const auto& of_left = topology.unit_ids[left.point];
  const auto& of_right = topology.unit_ids[right.point];
  bool numbered = false;
  bool alike = true;
  for (const auto& id : of_left) {
    bool both = false;
    bool same = false;
    for (const auto& mine : of_left)
      for (const auto& theirs : of_right) {
        if (mine.name != id.name || theirs.name != id.name) continue;
        both = true;
        same |= left.values[mine.field] == right.values[theirs.field];
      }
    alike &= same || !both;
    numbered |= both && id.number;
  }
  if (!numbered) return Likeness::kUnknown;
  return alike ? Likeness::kSame : Likeness::kDifferent;
}

// The block that the unit came in, as it was filled. A later HARQ round has the parents of the
// first.
const Unit* filled_block(const Unit& unit, const Topology& topology) {
  const auto* at = &unit;
  for (int step = 0; step < kMaxCrossing; ++step) {
    if (topology.points[at->point].block.way == BlockWay::kFilled) return at;
    if (at->parent_count != 1) return nullptr;
    at = at->only_parent;
  }
  return nullptr;
}

}  // namespace

Origin origin_of(const Unit& unit, const Topology& topology) {
  const auto* const block = filled_block(*unit.only_parent, topology);
  if (block == nullptr) return {};
  Origin origin;
  for (auto* const one : block->all_parents()) {
    const auto likeness = compare(unit, *one, topology);
    if (likeness == Likeness::kSame && origin.unit != nullptr) return {};
    if (likeness == Likeness::kSame) origin.unit = one;
    if (likeness == Likeness::kDifferent) origin.missing = true;
  }
  origin.missing &= origin.unit == nullptr;
  return origin;
}

}  // namespace sojourn::journeys
