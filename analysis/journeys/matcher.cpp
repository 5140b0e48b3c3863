#include "analysis/journeys/matcher.h"

#include <algorithm>
#include <ranges>

namespace sojourn::journeys {
namespace {

// Chains of units are followed back to their input; one longer than any pipeline is a circle.
constexpr std::uint16_t kMaxDepth = 10'000;
constexpr std::uint32_t kMaxAlternatives = 8;
// Joins without a single exact sum: the child's length counts something else, e.g. a header.
constexpr std::uint32_t kEnoughJoins = 64;
constexpr std::size_t kThreads = 1 << 16;
// A piece that is not needed and came so long before those that are is another unit's: a second, or
// four times what gathering a unit took at most, once enough were seen.
constexpr std::uint64_t kSameUnit_ns = 1'000'000'000;
constexpr std::uint64_t kSameUnitFloor_ns = 100'000'000;
constexpr std::uint64_t kSameUnitFactor = 4;
constexpr std::uint64_t kEnoughUnits = 100;

bool fits_interval(std::uint64_t begin, std::uint64_t length) {
  return begin <= UINT32_MAX && length <= UINT32_MAX && begin + length <= UINT32_MAX;
}

std::uint64_t waited_ns(const Unit& parent, const Unit& child) {
  return child.ts_ns - std::min(child.ts_ns, parent.entered_ns);
}

}  // namespace

Matcher::Matcher(const Topology& topology, const Rules& rules, Store& store)
    : topology_(topology),
      rules_(rules),
      store_(store),
      lengths_differ_(topology.pairs.size(), false),
      gatherings_(topology.pairs.size()),
      joined_whole_(topology.pairs.size(), 0),
      joined_short_(topology.pairs.size(), 0),
      last_(kThreads) {}

void Matcher::match(UnitId child, Match& into, bool finally) {
  into.clear();
  const auto& unit = store_[child];
  const auto& plan = topology_.points[unit.point];
  if (!plan.round_is_id && match_round(child, plan, into)) return;
  if (!plan.pairs.empty()) {
    const auto found = best(plan, unit);
    if (plan.round_is_id && found.open == kNone && match_round(child, plan, into)) return;
    const auto parent = found.open != kNone ? found.open : found.used;
    if (parent != kNone) {
      const auto index = topology_.pair_index(store_[parent].point, unit.point);
      const auto& pair = topology_.pairs[index];
      const bool cut =
          pair.cuts && !lengths_differ_[index] && match_cut(child, parent, index, into);
      if (cut) {
      } else if (found.open == kNone) {
        // An address that was handed on is another unit's by now.
        if (!pair.single || plan.drop || plan.ack) match_used(child, parent, into);
      } else if (pair.gathers) {
        take_all(child, plan, into);
        if (pair.joins) check_pieces(child, into, finally);
      } else {
        take_nearest(child, found, into);
      }
    } else {
      match_process(child, plan, into);
    }
  } else if (plan.round_is_id && match_round(child, plan, into)) {
    return;
  }
  last_[unit.tid % kThreads] = {unit.tid, unit.serial};
}

Matcher::Best Matcher::best(const PointPlan& plan, const Unit& unit) const {
  Best best;
  const auto newer = [this](UnitId left, UnitId right) {
    return right == kNone || store_[left].serial > store_[right].serial;
  };
  for (const auto& use : plan.lookups) {
    const auto found = store_.find(use, unit);
    const auto entry = in_time(found.open, unit);
    if (entry != kNone) {
      const auto waiting = store_.unit_of(entry);
      if (store_[waiting].depth < kMaxDepth && newer(waiting, best.open)) {
        best.open = waiting;
        best.entry = entry;
      }
    }
    if (found.used != kNone && store_[found.used].depth < kMaxDepth &&
        newer(found.used, best.used) && !is_too_old(found.used, unit))
      best.used = found.used;
  }
  return best;
}

bool Matcher::is_too_old(UnitId parent, const Unit& child) const {
  if (!topology_.has_expiries) return false;
  const auto& unit = store_[parent];
  return waited_ns(unit, child) > topology_.pair(unit.point, child.point).expiry_ns;
}

std::uint32_t Matcher::in_time(std::uint32_t entry, const Unit& child) const {
  if (!topology_.has_expiries) return entry;
  const auto longest_ns = topology_.points[child.point].longest_expiry_ns;
  for (; entry != kNone; entry = store_.older(entry)) {
    const auto parent = store_.unit_of(entry);
    // What waited before it is older still.
    if (waited_ns(store_[parent], child) > longest_ns) return kNone;
    if (!is_too_old(parent, child)) return entry;
  }
  return kNone;
}

// A round above 0 repeats the latest unit of its process, whatever else its ids say.
bool Matcher::match_round(UnitId child, const PointPlan& plan, Match& into) {
  const auto& unit = store_[child];
  if (!plan.repeats || store_.values(unit)[*plan.round] == 0) return false;
  const auto earlier = store_.find(*plan.repeats, unit).used;
  if (earlier == kNone || store_[earlier].depth >= kMaxDepth) return false;
  into.relation = Relation::kRepeat;
  into.repeat_of = earlier;
  const auto parents = store_.parents(store_[earlier]);
  into.parents.assign(parents.begin(), parents.end());
  return true;
}

// A unit that is dropped after several rounds may carry the ids of any of them.
bool Matcher::match_process(UnitId child, const PointPlan& plan, Match& into) const {
  for (const auto& use : plan.processes) {
    const auto latest = store_.find(use, store_[child]).used;
    if (latest == kNone || store_[latest].depth >= kMaxDepth) continue;
    const auto parents = store_.parents(store_[latest]);
    if (parents.empty()) continue;
    into.parents.assign(parents.begin(), parents.end());
    into.relation = Relation::kEnds;
    return true;
  }
  return false;
}

bool Matcher::match_cut(UnitId child, UnitId parent, std::uint32_t pair, Match& into) {
  const auto& piece = store_[child];
  auto& unit = store_[parent];
  const auto& plan = topology_.points[piece.point];
  const auto offset = store_.values(piece)[*plan.offset];
  const auto length = store_.values(piece)[*plan.length];
  const auto whole = store_.values(unit)[*topology_.points[unit.point].length];
  if (!fits_interval(offset, length) || offset + length > whole) {
    lengths_differ_[pair] = true;
    return false;
  }
  into.parents.push_back(parent);
  into.has_bytes = true;
  into.bytes = {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(offset + length)};
  auto& covered = store_.covered(unit);
  const auto fresh = covered.add(into.bytes);
  into.all_left = covered.bytes() == whole;
  const auto point = piece.point;
  const auto begin = into.bytes.begin;
  if (fresh == 0) {
    into.repeat_of = store_.newest_child(parent, [&](UnitId earlier, Interval bytes) {
      return store_[earlier].point == point &&
             ((bytes.begin <= begin && begin < bytes.end) || bytes == into.bytes);
    });
  }
  const bool repeats = fresh == 0 && (into.repeat_of != kNone || length != 0);
  into.relation = repeats ? Relation::kRepeat : Relation::kPiece;
  return true;
}

void Matcher::take_all(UnitId child, const PointPlan& plan, Match& into) const {
  const auto point = store_[child].point;
  for (const auto& use : plan.lookups) {
    auto entry = in_time(store_.find(use, store_[child]).open, store_[child]);
    for (; entry != kNone; entry = in_time(store_.older(entry), store_[child])) {
      const auto parent = store_.unit_of(entry);
      if (store_[parent].depth < kMaxDepth && topology_.pair(store_[parent].point, point).gathers)
        into.parents.push_back(parent);
    }
  }
  std::ranges::sort(into.parents, {}, [this](UnitId id) { return store_[id].serial; });
  // By several of its alternatives.
  const auto twice = std::ranges::unique(into.parents);
  into.parents.erase(twice.begin(), twice.end());
  into.relation = Relation::kTakes;
}

void Matcher::take_nearest(UnitId child, const Best& best, Match& into) const {
  into.parents.push_back(best.open);
  into.relation = Relation::kTakes;
  const auto& nearest = store_[best.open];
  const auto& last = last_[store_[child].tid % kThreads];
  // What the same thread did just before is what it goes on with.
  if (last.tid == nearest.tid && last.serial == nearest.serial && nearest.tid == store_[child].tid)
    return;
  auto entry = in_time(store_.older(best.entry), store_[child]);
  for (; entry != kNone && into.alternatives < kMaxAlternatives;
       entry = in_time(store_.older(entry), store_[child]))
    ++into.alternatives;
}

bool Matcher::same_ids(UnitId left, UnitId right) const {
  const auto& plan = topology_.points[store_[left].point];
  if (store_[left].point != store_[right].point) return false;
  const auto a = store_.values(store_[left]);
  const auto b = store_.values(store_[right]);
  for (std::size_t i = 0; i < plan.is_id.size(); ++i)
    if (plan.is_id[i] && a[i] != b[i]) return false;
  return true;
}

void Matcher::match_used(UnitId child, UnitId parent, Match& into) const {
  const auto point = store_[child].point;
  const auto& plan = topology_.points[point];
  into.parents.push_back(parent);
  if (plan.drop || plan.ack) {
    into.relation = Relation::kEnds;
    return;
  }
  const auto twin = store_.newest_child(
      parent, [&](UnitId earlier, Interval) { return same_ids(earlier, child); });
  const bool tells_apart = !topology_.pair(store_[parent].point, point).child_extra.empty();
  if (tells_apart && twin == kNone) {
    into.relation = Relation::kBranch;
    return;
  }
  into.relation = Relation::kRepeat;
  into.repeat_of =
      twin != kNone ? twin : store_.newest_child(parent, [&](UnitId earlier, Interval) {
        return !topology_.points[store_[earlier].point].ends() ||
               topology_.points[store_[earlier].point].output;
      });
  if (twin == kNone) return;
  const auto parents = store_.parents(store_[twin]);
  into.parents.assign(parents.begin(), parents.end());
}

// The bytes of a unit of which the parent is a piece.
std::optional<Interval> Matcher::piece_of(UnitId parent, std::uint64_t whole) const {
  const auto& unit = store_[parent];
  const auto& plan = topology_.points[unit.point];
  const auto offset = store_.values(unit)[*plan.offset];
  const auto length = store_.values(unit)[*plan.length];
  if (!fits_interval(offset, length) || offset + length > whole) return std::nullopt;
  return Interval{static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(offset + length)};
}

// Finds out whether the pieces make up the whole, the newest first, and if so leaves the others
// where they are that cannot be of it: numbers are used again, and old pieces may be left over.
bool Matcher::leave_strangers(std::uint32_t pair, std::uint64_t whole, Match& into) {
  pieces_.clear();
  needed_.clear();
  std::uint64_t oldest_ns = 0;
  for (const auto parent : into.parents | std::views::reverse) {
    if (pieces_.bytes() == whole) break;
    const auto bytes = piece_of(parent, whole);
    if (!bytes || pieces_.add(*bytes) == 0) continue;
    needed_.push_back(parent);
    oldest_ns = store_[parent].ts_ns;
  }
  if (pieces_.bytes() != whole || needed_.empty()) return pieces_.bytes() == whole;
  auto& gathering = gatherings_[pair];
  const auto same_ns = gathering.units < kEnoughUnits
                           ? kSameUnit_ns
                           : std::max(kSameUnitFloor_ns, kSameUnitFactor * gathering.longest_ns);
  ++gathering.units;
  gathering.longest_ns = std::max(gathering.longest_ns, store_[needed_.front()].ts_ns - oldest_ns);
  // Either all pieces of a unit were seen to come from somewhere, or none.
  const auto known = [this](UnitId parent) {
    const auto& unit = store_[parent];
    return !unit.is(kHeadless) && !unit.is(kCut) && !unit.is(kOrphan);
  };
  auto needed = needed_.rbegin();
  std::erase_if(into.parents, [&](UnitId parent) {
    if (needed != needed_.rend() && *needed == parent) {
      ++needed;
      return false;
    }
    return !piece_of(parent, whole) || store_[parent].ts_ns + same_ns < oldest_ns ||
           known(parent) != known(needed_.front());
  });
  return true;
}

// A drop is where pieces go that never were made whole: its length is of those that had come.
void Matcher::check_dropped(std::uint64_t whole, Match& into) {
  pieces_.clear();
  for (const auto parent : into.parents) {
    const auto bytes = piece_of(parent, UINT32_MAX);
    if (!bytes) return;
    pieces_.add(*bytes);
  }
  into.missing = pieces_.bytes() < whole;
}

// Whether the pieces make up the child's length. Exact sums must have been seen before a shortfall
// means that a piece is missing; until it is known, it is taken as one, which the caller judges.
void Matcher::check_pieces(UnitId child, Match& into, bool finally) {
  const auto& unit = store_[child];
  const auto index = topology_.pair_index(store_[into.parents.front()].point, unit.point);
  if (lengths_differ_[index]) return;
  const auto whole = store_.values(unit)[*topology_.points[unit.point].length];
  for (const auto parent : into.parents) {
    const auto& plan = topology_.points[store_[parent].point];
    if (!plan.offset || !plan.length) return;
  }
  if (topology_.points[unit.point].drop) {
    check_dropped(whole, into);
    return;
  }
  if (leave_strangers(index, whole, into)) {
    ++joined_whole_[index];
    return;
  }
  const auto strange = [&](UnitId parent) { return !piece_of(parent, whole); };
  if (joined_whole_[index] == 0 && std::ranges::any_of(into.parents, strange)) {
    lengths_differ_[index] = true;
    return;
  }
  std::erase_if(into.parents, strange);
  if (into.parents.empty()) {
    into.relation = Relation::kNothing;
    return;
  }
  into.missing = true;
  if (finally && ++joined_short_[index] > kEnoughJoins && joined_whole_[index] == 0) {
    lengths_differ_[index] = true;
    into.missing = false;
  }
}

}  // namespace sojourn::journeys
