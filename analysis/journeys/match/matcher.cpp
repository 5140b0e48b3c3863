#include "analysis/journeys/match/matcher.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <ranges>

namespace sojourn::journeys {
namespace {

// Chains of units are followed back to their input. A chain longer than any pipeline is a circle.
constexpr std::uint16_t kMaxDepth = 10'000;
// More units than any block has. Outputs without a number look like repeats of the first one, which
// took all units that waited. If each of them had all these as parents, memory would grow with the
// square.
constexpr std::size_t kMaxRepeated = 256;

// The number of waiting units among which one with the length of the child is searched.
constexpr int kMaxWaiting = 64;
// The most bytes that a layer adds to a unit.
constexpr std::uint64_t kMaxHeader = 32;

bool is_repeat(const Unit& unit, const PointPlan& plan) {
  if (!plan.harq.latest) [[likely]]
    return false;
  return plan.harq.repeats({unit.values, plan.values});
}

std::uint64_t waited_ns(const Unit& parent, const Unit& child) {
  return child.ts_ns - std::min(child.ts_ns, parent.entered_ns);
}

}  // namespace

Matcher::Matcher(const Topology& topology, UnitStore& store, EvictedUnits& evicted,
                 MixedSenders& senders, HarqReceptions& receptions)
    : topology_(topology),
      store_(store),
      evicted_units_(evicted),
      mixed_senders_(senders),
      harq_receptions_(receptions),
      lengths_differ_(topology.pairs.size(), false),
      reassembly_(topology, lengths_differ_),
      bearer_filter_(topology, reassembly_),
      last_(kThreads) {}

void Matcher::match(const Unit& child, Match& into, bool finally) {
  into.clear();
  const auto& plan = topology_.points[child.point];
  const bool repeats = is_repeat(child, plan);
  if (plan.numbering.is_segment && !repeats && match_numbered(child, plan, into, finally)) {
    pass(child.tid, child.serial);
    return;
  }
  auto found = best(plan, child);
  if (found.open != nullptr && is_new_block(*found.open->unit, child, plan)) found.open = nullptr;
  // A later round comes by the points of the first round. It may be stamped before its parent.
  const bool may_come =
      repeats && plan.harq.parents_have_rounds && found.open == nullptr && !finally;
  if (may_come) return;
  const bool of_evicted = finally && found.open == nullptr && take_evicted(child, plan, into);
  if (!of_evicted) [[likely]] {
    if (repeats && !is_named(found, child, plan) && match_round(child, plan, into)) {
      if (may_be_doubtful(into)) mixed_senders_.judge(child, plan, into);
      return;
    }
    if (!plan.pairs.empty()) [[likely]]
      match_pairs(child, plan, found, into, finally);
  }
  if (repeats && into.relation == Relation::kTakes) note_round_before(child, into);
  if (may_be_doubtful(into)) [[unlikely]]
    mixed_senders_.judge(child, plan, into);
  pass(child.tid, child.serial);
}

[[gnu::always_inline]] inline void Matcher::match_pairs(const Unit& child, const PointPlan& plan,
                                                        const Best& found, Match& into,
                                                        bool finally) {
  const auto* const open = is_of_last(child, found) ? nullptr : found.open;
  auto* const parent = open != nullptr ? open->unit : found.used;
  if (open == nullptr && match_reception(child, plan, parent, into)) [[unlikely]]
    return;
  if (parent == nullptr) {
    if (!match_process(child, plan, into)) note_orphan(child, plan, into);
    return;
  }
  const auto index = plan.pair_with(parent->point);
  const auto& pair = topology_.pairs[index];
  if (pair.cuts() && !lengths_differ_[index] && match_cut(child, parent, index, into)) return;
  if (open == nullptr) {
    // A unit that has left may have given its address to another one. Where points say when an
    // address begins and ends (key_outlasts_unit), it still has it.
    const bool has_key = pair.key_outlasts_unit || !pair.has_one_live_unit();
    if (plan.drop || plan.ack || (has_key && !went_whole(*parent, child, pair)))
      match_used(child, parent, pair, into);
    else
      note_orphan(child, plan, into);
  } else if (pair.gathers()) {
    take_all(child, plan, *open, into);
    if (pair.taken_parents == TakenParents::kAllOfOneBearer && into.parents.size() > 1)
      bearer_filter_.leave_others(child, goes_on_with(*into.parents.back(), child), into);
    if (pair.reassembles()) {
      reassembly_.check(child, into, finally);
      if (reassembly_.mixes_senders(index)) mixed_senders_.mix(plan.direction);
    } else if (pair.key_lacks_owner && (!pair.is_by_process() || into.parents.size() > 1)) {
      into.unsure = !reassembly_.adds_up(child, into);
    }
    into.unsure &= pair.key_lacks_owner;
  } else {
    take_nearest(child, *open, into);
  }
}

// The unit comes out of the block that came last, though an older, empty one still waits there.
bool Matcher::is_of_last(const Unit& child, const Best& found) const {
  if (found.used == nullptr) [[likely]]
    return false;
  return found.open != nullptr && found.used->serial > found.open->unit->serial &&
         topology_.pair(found.used->point, child.point).unpacks_block();
}

// Another unit may have taken its parent. A unit at the input of a loop needs no parent.
void Matcher::note_orphan(const Unit& child, const PointPlan& plan, Match& into) {
  into.unsure =
      plan.takes_unowned &&
      (plan.loop == 0 || (plan.harq.round && plan.harq.repeats({child.values, plan.values})));
}

// Inlined, as only match() calls it.
[[gnu::always_inline]] inline Matcher::Best Matcher::best(const PointPlan& plan,
                                                          const Unit& child) const {
  Best best;
  for (const auto& use : plan.lookups) {
    const auto found = store_.find(use, child);
    const auto* const entry = in_time(found.open, child);
    if (entry != nullptr && entry->unit->depth < kMaxDepth &&
        (best.open == nullptr || entry->unit->serial > best.open->unit->serial))
      best.open = entry;
    if (found.used != nullptr && found.used->depth < kMaxDepth &&
        (best.used == nullptr || found.used->serial > best.used->serial) &&
        !is_too_old(*found.used, child))
      best.used = found.used;
  }
  return best;
}

bool Matcher::is_too_old(const Unit& parent, const Unit& child) const {
  if (!topology_.has_expiries) return false;
  return waited_ns(parent, child) > topology_.pair(parent.point, child.point).expiry_ns;
}

const KeyEntry* Matcher::first_in_time(const KeyEntry* entry, const Unit& child) const {
  const auto longest_ns = topology_.points[child.point].longest_expiry_ns;
  for (; entry != nullptr; entry = entry->older) {
    // The next entries are older still.
    if (waited_ns(*entry->unit, child) > longest_ns) return nullptr;
    if (!is_too_old(*entry->unit, child)) return entry;
  }
  return nullptr;
}

// The waiting parent is found by the process of the unit, or by all its ids with the round among
// them. Such a parent comes before the unit that it may repeat.
bool Matcher::is_named(const Best& found, const Unit& child, const PointPlan& plan) const {
  return found.open != nullptr &&
         (plan.harq.round_is_id ||
          topology_.pair(found.open->unit->point, child.point).is_by_process());
}

// The unit is a first round. A parent that waits for a later round of the process is not its
// parent.
bool Matcher::is_new_block(const Unit& parent, const Unit& child, const PointPlan& plan) const {
  if (!plan.harq.round) [[likely]]
    return false;
  const auto& before = topology_.points[parent.point];
  return before.harq.round && !plan.harq.repeats({child.values, plan.values}) &&
         before.harq.repeats({parent.values, before.values}) &&
         topology_.pair(parent.point, child.point).is_by_process();
}

// The latest unit of its process.
Unit* Matcher::round_before(const Unit& child, const PointPlan& plan) const {
  auto* earlier = store_.find(*plan.harq.latest, child).used;
  for (const auto& use : plan.harq.more_latest) {
    auto* const other = store_.find(use, child).used;
    if (other != nullptr && (earlier == nullptr || other->serial > earlier->serial))
      earlier = other;
  }
  return earlier;
}

// A round above 0 repeats the latest unit of its process, independent of its other ids.
bool Matcher::match_round(const Unit& child, const PointPlan& plan, Match& into) {
  auto* earlier = round_before(child, plan);
  if (earlier == nullptr || earlier->depth >= kMaxDepth) return false;
  if (plan.input) {
    earlier = harq_receptions_.before(child, plan, earlier, into);
    if (evicted_units_.is_disproved(*plan.harq.latest)) mixed_senders_.mix(plan.direction);
    if (earlier == nullptr) return false;
  } else {
    into.unsure = plan.harq.lacks_owner;
  }
  into.relation = Relation::kRepeat;
  into.repeat_of = earlier;
  into.latest = earlier;
  const auto parents = earlier->all_parents();
  into.parents.assign(parents.begin(), parents.end());
  return true;
}

// Each round may go through several points. A repeat at the first of them is one at the others as
// well, but a round in between may not have come so far.
void Matcher::note_round_before(const Unit& child, Match& into) const {
  const auto* again = into.parents.front()->repeat_of;
  for (int step = 0; step < kMaxRounds && again != nullptr; ++step, again = again->repeat_of) {
    into.repeat_of = store_.newest_child(
        again, [&](const Unit* earlier, Interval) { return earlier->point == child.point; });
    if (into.repeat_of != nullptr) return;
  }
}

// A unit that is dropped after several rounds may have the ids of any of them.
bool Matcher::match_process(const Unit& child, const PointPlan& plan, Match& into) const {
  for (const auto& use : plan.harq.siblings_latest) {
    const auto* const latest = store_.find(use, child).used;
    if (latest == nullptr || latest->depth >= kMaxDepth) continue;
    const auto parents = latest->all_parents();
    if (parents.empty()) continue;
    into.parents.assign(parents.begin(), parents.end());
    into.relation = Relation::kEnds;
    into.latest = latest;
    into.unsure = topology_.points[latest->point].harq.lacks_owner;
    return true;
  }
  return false;
}

// A dropped block is the latest reception of its process, if that was not decoded. The drop may
// name an earlier round of it, or no round (`named` is null).
bool Matcher::match_reception(const Unit& child, const PointPlan& plan, const Unit* named,
                              Match& into) const {
  for (const auto& use : plan.harq.inputs_latest) {
    auto* const latest = store_.find(use, child).used;
    if (latest == nullptr || latest->is(kLeft) || is_too_old(*latest, child)) continue;
    const auto* round = latest;
    while (round != nullptr && round != named) round = round->repeat_of;
    if (round != named) continue;
    into.parents.push_back(latest);
    into.relation = Relation::kTakes;
    if (named == nullptr) {
      into.latest = latest;
      into.unsure = topology_.points[latest->point].harq.lacks_owner;
    }
    return true;
  }
  return false;
}

// Matches a segment to the SDU that was assigned its sequence number.
bool Matcher::match_numbered(const Unit& child, const PointPlan& plan, Match& into, bool finally) {
  const auto [whole, is_sure] = numbering_.find(child, plan, finally);
  if (whole == nullptr || whole->depth >= kMaxDepth) return false;
  const auto index = plan.pair_with(whole->point);
  const auto& pair = topology_.pairs[index];
  if (!is_sure) into.doubts |= kNumber;
  if (pair.cuts() && !lengths_differ_[index] && match_cut(child, whole, index, into)) return true;
  if (whole->is(kLeft)) {
    match_used(child, whole, pair, into);
  } else {
    into.parents.push_back(whole);
    into.relation = Relation::kTakes;
  }
  return true;
}

bool Matcher::match_cut(const Unit& child, Unit* parent, std::uint32_t pair, Match& into) {
  const auto& plan = topology_.points[child.point];
  const auto offset = child.values[*plan.offset];
  const auto length = child.values[*plan.length];
  const auto whole = parent->values[*topology_.points[parent->point].length];
  if (!fits_interval(offset, length) || offset + length > whole) {
    lengths_differ_[pair] = true;
    return false;
  }
  into.parents.push_back(parent);
  into.has_bytes = true;
  into.bytes = {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(offset + length)};
  auto& covered = store_.covered(*parent);
  const auto fresh = covered.add(into.bytes);
  into.all_left = covered.bytes() == whole;
  const auto point = child.point;
  const auto begin = into.bytes.begin;
  if (fresh == 0) {
    into.repeat_of = store_.newest_child(parent, [&](const Unit* earlier, Interval bytes) {
      return earlier->point == point &&
             ((bytes.begin <= begin && begin < bytes.end) || bytes == into.bytes);
    });
  }
  const bool repeats = fresh == 0 && (into.repeat_of != nullptr || length != 0);
  into.relation = repeats ? Relation::kRepeat : Relation::kPiece;
  return true;
}

void Matcher::take_all(const Unit& child, const PointPlan& plan, const KeyEntry& newest,
                       Match& into) const {
  const auto take = [&](const KeyEntry* entry) {
    for (; entry != nullptr; entry = in_time(entry->older, child)) {
      auto* const parent = entry->unit;
      if (parent->depth < kMaxDepth && topology_.pair(parent->point, child.point).gathers())
        into.parents.push_back(parent);
    }
  };
  into.relation = Relation::kTakes;
  if (plan.lookups.size() == 1) {
    take(&newest);
    std::ranges::reverse(into.parents);
    return;
  }
  for (const auto& use : plan.lookups) take(in_time(store_.find(use, child).open, child));
  // A unit may be found by several alternative fields.
  std::ranges::sort(into.parents, {}, &Unit::serial);
  const auto twice = std::ranges::unique(into.parents);
  into.parents.erase(twice.begin(), twice.end());
}

// Returns whether the unit is the last one that the thread of the child handled.
bool Matcher::goes_on_with(const Unit& unit, const Unit& child) const {
  const auto& last = last_[child.tid % kThreads];
  return last.tid == unit.tid && last.serial == unit.serial && unit.tid == child.tid;
}

[[gnu::always_inline]] inline void Matcher::take_nearest(const Unit& child, const KeyEntry& nearest,
                                                         Match& into) const {
  into.relation = Relation::kTakes;
  const bool is_only = in_time(nearest.older, child) == nullptr;
  bool goes_on = !is_shared(*nearest.use) && goes_on_with(*nearest.unit, child);
  if (goes_on && !is_only) goes_on = believes_thread(nearest, child, into);
  const bool sure = is_only || (goes_on && child.tid != 0);
  const auto* const as_long = sure ? nullptr : first_as_long(&nearest, child);
  const auto& taken = as_long != nullptr ? *as_long : nearest;
  into.parents.push_back(taken.unit);
  // The thread may not be known (0). Then the unit just before is believed, unless another one has
  // the length of the child.
  const bool follows = goes_on && taken.unit == nearest.unit;
  if (!sure && !follows) note_alternatives(nearest, taken, child, into);
  if (taken.use->is_per_sender()) note_senders(taken, into);
}

// If a process ties units that have different ids, the unit may be another sender's, even if its
// thread handled it just before. The thread is believed as long as there seems to be one sender.
// The other units that wait are contested: a child that takes one of them later shows that there
// are several senders.
bool Matcher::believes_thread(const KeyEntry& nearest, const Unit& child, Match& into) const {
  const auto& pair = topology_.pair(nearest.unit->point, child.point);
  if (!pair.key_lacks_owner || pair.process_key != ProcessKey::kOtherIds) return true;
  into.unsure = true;
  if (mixed_senders_.are_mixed(topology_.points[child.point].direction)) return false;
  auto left = kMaxWaiting;
  for (const auto* entry = nearest.older; entry != nullptr && left-- > 0; entry = entry->older)
    store_.ambiguities().contest(*entry->unit);
  return true;
}

// Returns the nearest entry of the chain whose unit is as long as the child, or null.
const KeyEntry* Matcher::first_as_long(const KeyEntry* entry, const Unit& child) const {
  const auto length = topology_.points[child.point].length;
  if (!length) return nullptr;
  for (auto left = kMaxWaiting; entry != nullptr && left-- > 0;
       entry = in_time(entry->older, child)) {
    const auto& unit = *entry->unit;
    const auto its_length = topology_.points[unit.point].length;
    if (its_length && unit.values[*its_length] == child.values[*length]) return entry;
  }
  return nullptr;
}

// Several senders are known to use the table, each its own units. A thread may continue with the
// unit of any of them.
bool Matcher::is_shared(const TableUse& use) const {
  return use.is_per_sender() && evicted_units_.is_disproved(use);
}

// Notes the other units of the taken key that may be the parent, if several senders use the key.
void Matcher::note_senders(const KeyEntry& taken, Match& into) const {
  const bool shared = is_shared(*taken.use);
  if (!shared && evicted_units_.empty()) return;
  const auto* const rivals = evicted_units_.find(*taken.use, *taken.unit);
  if (!shared) {
    if (rivals != nullptr && !rivals->units.empty()) into.rivals = taken.use;
    return;
  }
  if (rivals != nullptr) note_rivals(*rivals, into);
  if (into.doubts != 0) into.rivals = taken.use;
}

// Takes an evicted unit as the parent if no other unit waits. Units that took others of the key
// meanwhile may have taken the wrong ones.
bool Matcher::take_evicted(const Unit& child, const PointPlan& plan, Match& into) const {
  if (evicted_units_.empty() || plan.drop || plan.ack) return false;
  for (const auto& use : plan.lookups) {
    auto* const key = use.is_per_sender() ? evicted_units_.find(use, child) : nullptr;
    if (key == nullptr) continue;
    if (key->units.empty()) continue;
    const auto& one = key->units.back();
    auto* const parent = one.unit;
    if (parent->depth >= kMaxDepth || is_too_old(*parent, child) ||
        is_new_block(*parent, child, plan) || topology_.pair(parent->point, child.point).cuts())
      continue;
    into.parents.push_back(parent);
    into.relation = Relation::kTakes;
    into.rivals = one.use;
    into.takes_back = true;
    note_rivals(*key, into);
    return true;
  }
  return false;
}

// Notes as alternatives the evicted units, and the units that others took while the parent was
// there.
void Matcher::note_rivals(const EvictedUnits::Key& rivals, Match& into) {
  const auto& parent = *into.parents.front();
  if ((into.doubts & kOthersFit) == 0) into.alternatives.clear();
  for (const auto& taker : rivals.takers)
    if (taker.serial > parent.serial) into.alternatives.push_back(taker.parent);
  for (const auto& one : rivals.units)
    if (one.unit != &parent) into.alternatives.push_back(one.unit);
  if (into.alternatives.empty()) return;
  into.doubts |= kOthersFit;
  std::ranges::sort(into.alternatives, std::greater(), &Unit::serial);
  into.more_fit = into.alternatives.size() > kMaxAlternatives;
  if (into.more_fit) into.alternatives.resize(kMaxAlternatives);
}

void Matcher::note_alternatives(const KeyEntry& nearest, const KeyEntry& taken, const Unit& child,
                                Match& into) const {
  into.doubts |= kOthersFit;
  into.alternatives.clear();
  into.more_fit = false;
  for (const auto* entry = &nearest; entry != nullptr && !into.more_fit;
       entry = in_time(entry->older, child)) {
    if (entry == &taken) continue;
    into.more_fit = into.alternatives.size() == kMaxAlternatives;
    if (!into.more_fit) into.alternatives.push_back(entry->unit);
  }
}

bool Matcher::same_ids(const Unit& left, const Unit& right) const {
  const auto& plan = topology_.points[left.point];
  if (left.point != right.point) return false;
  for (std::size_t i = 0; i < plan.is_id.size(); ++i)
    if (plan.is_id[i] && left.values[i] != right.values[i]) return false;
  return true;
}

// A block that took only this numbered unit, and is as long but for a header, has all of it. So a
// shorter block with other ids is not another part of it.
bool Matcher::went_whole(const Unit& parent, const Unit& child, const Pair& pair) const {
  const bool is_block = pair.gathers() && topology_.points[parent.point].number &&
                        !topology_.points[child.point].number;
  if (!is_block) return false;
  const auto length_of = [&](const Unit& unit) -> std::optional<std::uint64_t> {
    const auto& length = topology_.points[unit.point].length;
    return length ? std::optional(unit.values[*length]) : std::nullopt;
  };
  const auto whole = length_of(parent);
  const auto length = length_of(child);
  if (!whole || !length || *length >= *whole) return false;
  const auto has_all = [&](const Unit* earlier, Interval) {
    if (earlier->point != child.point || earlier->parent_count != 1) return false;
    const auto taken = length_of(*earlier);
    return *taken >= *whole && *taken - *whole <= kMaxHeader;
  };
  const auto is_twin = [&](const Unit* earlier, Interval) { return same_ids(*earlier, child); };
  return store_.newest_child(&parent, has_all) != nullptr &&
         store_.newest_child(&parent, is_twin) == nullptr;
}

void Matcher::match_used(const Unit& child, Unit* parent, const Pair& pair, Match& into) const {
  const auto& plan = topology_.points[child.point];
  into.parents.push_back(parent);
  into.unsure = pair.key_lacks_owner && !pair.is_by_process();
  if (plan.drop || plan.ack) {
    into.relation = Relation::kEnds;
    return;
  }
  auto* const twin = store_.newest_child(
      parent, [&](const Unit* earlier, Interval) { return same_ids(*earlier, child); });
  // No unit is in a block twice. Two units that look alike are two, at one address one after the
  // other.
  const bool tells_apart =
      pair.child_from_block() || (!pair.child_extra.empty() && twin == nullptr);
  if (tells_apart) {
    into.relation = Relation::kBranch;
    return;
  }
  into.relation = Relation::kRepeat;
  into.repeat_of =
      twin != nullptr ? twin : store_.newest_child(parent, [&](const Unit* earlier, Interval) {
        const auto& other = topology_.points[earlier->point];
        return !other.ends() || other.output;
      });
  if (twin == nullptr) return;
  const auto parents = twin->all_parents();
  if (parents.size() <= kMaxRepeated) into.parents.assign(parents.begin(), parents.end());
}

}  // namespace sojourn::journeys
