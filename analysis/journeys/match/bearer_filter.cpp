#include "analysis/journeys/match/bearer_filter.h"

#include <algorithm>
#include <ranges>

namespace sojourn::journeys {
namespace {

// The most points between a segment and the point that names its bearer.
constexpr int kFarthest = 8;

}  // namespace

BearerFilter::BearerFilter(const Topology& topology, const Reassembly& joins)
    : topology_(topology), reassembly_(joins) {}

// The bearer that the point of the unit names, or else the nearest point before it.
std::optional<BearerFilter::Bearer> BearerFilter::bearer_of(const Unit& unit) const {
  const auto* at = &unit;
  for (int step = 0; step < kFarthest; ++step) {
    const auto& plan = topology_.points[at->point];
    if (plan.bearer) return Bearer{plan.bearer->name, at->values[plan.bearer->field]};
    if (at->parent_count != 1) return std::nullopt;
    at = at->only_parent;
  }
  return std::nullopt;
}

bool BearerFilter::makes_whole(const Match& match, std::uint64_t whole, const Bearer& bearer) {
  pieces_.clear();
  std::uint64_t sum = 0;  // of the lengths of parents without an offset
  for (const auto* parent : match.parents) {
    const auto& plan = topology_.points[parent->point];
    if (!plan.length) return false;
    if (bearer_of(*parent) != bearer) continue;
    if (!plan.offset) {
      sum += parent->values[*plan.length];
    } else if (const auto bytes = reassembly_.piece_of(*parent, whole)) {
      pieces_.add(*bytes);
    }
  }
  return pieces_.bytes() + sum == whole;
}

// The parents are copies of one unit that came over several bearers: one of each, of equal lengths.
bool BearerFilter::are_copies(const Match& match) const {
  const auto& first = *match.parents.front();
  const auto length = topology_.points[first.point].length;
  if (!length) return false;
  for (auto at = match.parents.begin(); at != match.parents.end(); ++at) {
    const auto& parent = **at;
    if (parent.point != first.point || parent.values[*length] != first.values[*length])
      return false;
    const auto is_same = [&](const Unit* other) { return bearer_of(*other) == bearer_of(parent); };
    if (std::any_of(match.parents.begin(), at, is_same)) return false;
  }
  return true;
}

void BearerFilter::leave_others(const Unit& child, bool goes_on, Match& into) {
  const auto& newest = *into.parents.back();
  const auto last = bearer_of(newest);
  const auto is_other = [&](const Unit* parent) { return bearer_of(*parent) != last; };
  if (!last || std::ranges::none_of(into.parents, is_other)) return;
  const auto& plan = topology_.points[child.point];
  const auto named = bearer_of(child);
  const bool in_pieces = topology_.points[newest.point].offset.has_value();
  if (!in_pieces && !named && are_copies(into)) return;
  auto chosen = *last;
  bool guessed = !in_pieces && !goes_on;
  for (const auto* parent : into.parents | std::views::reverse) {
    const auto bearer = bearer_of(*parent);
    if (!bearer) return;
    if (named ? bearer == named
              : plan.length && makes_whole(into, child.values[*plan.length], *bearer)) {
      chosen = *bearer;
      guessed = false;
      break;
    }
  }
  const auto is_left = [&](const Unit* parent) { return bearer_of(*parent) != chosen; };
  if (guessed) into.note_others(into.parents | std::views::reverse | std::views::filter(is_left));
  std::erase_if(into.parents, is_left);
}

}  // namespace sojourn::journeys
