#include "analysis/journeys/match/reassembly.h"

#include <algorithm>
#include <ranges>

namespace sojourn::journeys {
namespace {

// The number of units after which the length of the child is not compared any more, if none was
// exactly as long as its segments. It may include a header, for example.
constexpr std::uint32_t kEnoughJoins = 64;
// A segment that is not needed, and came this long before the needed ones, belongs to another unit.
// The limit is a second, or four times the longest gathering once enough units were seen.
constexpr std::uint64_t kSameUnitNs = 1'000'000'000;
constexpr std::uint64_t kSameUnitFloorNs = 100'000'000;
constexpr std::uint64_t kSameUnitFactor = 4;
constexpr std::uint64_t kEnoughUnits = 100;
// The time of a tiling grows with the square of the segments.
constexpr std::size_t kMaxPieces = 256;

// Returns whether the beginning of the unit was seen. Of the segments of one unit either all have a
// beginning, or none.
bool is_known(const Unit& unit) {
  return !unit.is_any(kHeadless | kCut | kOrphan);
}

}  // namespace

Reassembly::Reassembly(const Topology& topology, std::vector<bool>& lengths_differ)
    : topology_(topology),
      lengths_differ_(lengths_differ),
      gatherings_(topology.pairs.size()),
      joined_whole_(topology.pairs.size(), 0),
      joined_short_(topology.pairs.size(), 0) {}

std::optional<Interval> Reassembly::piece_of(const Unit& parent, std::uint64_t whole) const {
  const auto& plan = topology_.points[parent.point];
  const auto offset = parent.values[*plan.offset];
  const auto length = parent.values[*plan.length];
  if (!fits_interval(offset, length) || offset + length > whole) return std::nullopt;
  return Interval{static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(offset + length)};
}

// Returns whether the segments, from the newest on, make up the whole. If they do, it removes the
// parents that cannot belong to it: numbers are used again, and old segments may be left over.
bool Reassembly::leave_strangers(std::uint32_t pair, std::uint64_t whole, Match& into) {
  pieces_.clear();
  needed_.clear();
  std::uint64_t oldest_ns = 0;
  std::uint64_t length = 0;
  for (const auto* parent : into.parents | std::views::reverse) {
    if (pieces_.bytes() == whole) break;
    const auto bytes = piece_of(*parent, whole);
    if (!bytes || pieces_.add(*bytes) == 0) continue;
    needed_.push_back(parent);
    oldest_ns = parent->ts_ns;
    length += bytes->end - bytes->begin;
  }
  if (pieces_.bytes() != whole || needed_.empty()) return pieces_.bytes() == whole;
  const bool exact = needed_.size() == into.parents.size() && length == whole;
  if (!exact && leave_other_senders(pair, whole, into)) return true;
  auto& gathering = gatherings_[pair];
  const auto same_ns = same_unit_ns(pair);
  ++gathering.units;
  gathering.longest_ns = std::max(gathering.longest_ns, needed_.front()->ts_ns - oldest_ns);
  if (exact) return true;
  into.unsure = true;
  // A receiver that has all bytes of a segment may discard it without an event.
  const auto& last = *needed_.front();
  pieces_.clear();
  std::erase_if(into.parents, [&](Unit* parent) {
    const auto bytes = piece_of(*parent, whole);
    if (!bytes || parent->ts_ns + same_ns < oldest_ns) return true;
    if (is_known(*parent) != is_known(last)) {
      into.stranger = parent;
      return true;
    }
    if (pieces_.add(*bytes) != 0 || bytes->begin == bytes->end) return false;
    into.copies.push_back(parent);
    return true;
  });
  if (!into.copies.empty()) into.note_others(into.copies | std::views::reverse);
  return true;
}

std::uint64_t Reassembly::same_unit_ns(std::uint32_t pair) const {
  const auto& gathering = gatherings_[pair];
  return gathering.units < kEnoughUnits
             ? kSameUnitNs
             : std::max(kSameUnitFloorNs, kSameUnitFactor * gathering.longest_ns);
}

// Each sender numbers its own units, perhaps without an id that tells the senders apart. Then the
// segments that make up the whole exactly are taken, and the others stay. A segment that ended
// beyond the end of one unit, and soon became part of another one, shows that senders are mixed.
// Units of a single segment do not show it: they usually belong to another bearer, which is not
// mixed.
bool Reassembly::leave_other_senders(std::uint32_t pair, std::uint64_t whole, Match& into) {
  if (into.parents.size() > kMaxPieces) return false;
  const auto now_ns = into.parents.back()->ts_ns;
  const auto same_ns = same_unit_ns(pair);
  intervals_.clear();
  for (auto* const parent : into.parents) {
    const bool may_be_of_it = parent->ts_ns + same_ns >= now_ns;
    intervals_.push_back(may_be_of_it ? piece_of(*parent, whole) : std::nullopt);
    if (may_be_of_it && !intervals_.back() && needed_.size() > 1) parent->set(kPassedOver);
  }
  if (!gatherings_[pair].mixed || !tiling_.find(intervals_, static_cast<std::uint32_t>(whole)))
    return false;
  const auto would_fit = [&](std::size_t at) { return !tiling_.uses(at) && intervals_[at]; };
  into.note_others(std::views::iota(std::size_t{0}, into.parents.size()) | std::views::reverse |
                   std::views::filter(would_fit) |
                   std::views::transform([&](std::size_t at) { return into.parents[at]; }));
  std::size_t at = 0;
  std::erase_if(into.parents, [&](const Unit*) { return !tiling_.uses(at++); });
  return true;
}

bool Reassembly::adds_up(const Unit& child, const Match& match) const {
  const auto length = topology_.points[child.point].length;
  if (!length) return false;
  std::uint64_t sum = 0;
  for (const auto* parent : match.parents) {
    const auto& from = topology_.points[parent->point];
    if (!from.length) return false;
    sum += parent->values[*from.length];
  }
  return sum == child.values[*length];
}

// A drop concerns segments that never became a whole unit. Its length is that of the segments that
// had come.
void Reassembly::check_dropped(std::uint64_t whole, Match& into) {
  pieces_.clear();
  for (const auto* parent : into.parents) {
    const auto bytes = piece_of(*parent, UINT32_MAX);
    if (!bytes) return;
    pieces_.add(*bytes);
  }
  into.missing = pieces_.bytes() < whole;
}

// Compares the segments with the length of the child. If they are shorter, a segment is missing,
// unless no unit of the pair was ever exactly as long as its segments.
void Reassembly::check(const Unit& child, Match& into, bool finally) {
  const auto index = topology_.pair_index(into.parents.front()->point, child.point);
  if (lengths_differ_[index]) return;
  const auto& plan = topology_.points[child.point];
  const auto whole = child.values[*plan.length];
  for (const auto* parent : into.parents) {
    const auto& from = topology_.points[parent->point];
    if (!from.offset || !from.length) return;
  }
  if (plan.drop) {
    check_dropped(whole, into);
    return;
  }
  if (leave_strangers(index, whole, into)) {
    ++joined_whole_[index];
    for (const auto* parent : into.parents) gatherings_[index].mixed |= parent->is(kPassedOver);
    return;
  }
  const auto strange = [&](const Unit* parent) { return !piece_of(*parent, whole); };
  if (joined_whole_[index] == 0 && std::ranges::any_of(into.parents, strange)) {
    lengths_differ_[index] = true;
    return;
  }
  into.unsure = true;
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
