#include "analysis/journeys/assemble/unit_lifecycle.h"

#include <algorithm>

#include "analysis/journeys/assemble/saturating_add.h"

namespace sojourn::journeys {
namespace {

// A block counts as empty if no unit was taken out of it for this many times the longest stay.
constexpr std::uint64_t kEmptyFactor = 8;
constexpr std::uint64_t kEmptyFloorNs = 20'000'000;

}  // namespace

void UnitLifecycle::enter(Unit* unit, const PointPlan& plan,
                          std::span<const std::uint64_t> hashes) {
  store_.retain(unit);
  if (plan.place) {
    waiting_.append(unit, now_ns_);
    if (!unit->is(kInside)) [[likely]]
      now_inside(unit, plan);
  } else {
    // The unit leaves no place, but it may be repeated.
    unit->set(kLeft);
    departed_.append(unit, now_ns_);
  }
  if (plan.awaits_ack) input_journeys_.pin(*unit, kAwaitsAck);
  // This comes first, since an older unit with the same ids is not found after the insertion.
  if (plan.harq.displaces) displace(*unit, plan);
  auto hash = hashes.begin();
  for (const auto& use : plan.inserts) insert(unit, plan, use, *hash++);
  if (plan.harq.latest) replace_rounds(unit, plan);
  // This comes last: a unit that is given up by the insertion must not take this one along.
  unit->set(kListed);
}

void UnitLifecycle::now_inside(Unit* unit, const PointPlan& plan) {
  unit->set(kInside);
  if (unit->ts_ns < open_ns_ || (is_selective_ && !is_chosen(*unit, plan)))
    unit->set(kUncounted);
  else
    places_.enter(*plan.place, unit->ts_ns);
}

bool UnitLifecycle::is_chosen(const Unit& unit, const PointPlan& plan) const {
  return observer_.selects({.ts_ns = unit.ts_ns,
                            .seq = unit.seq,
                            .stream = unit.stream,
                            .tid = unit.tid,
                            .point = unit.point,
                            .values = {unit.values, plan.values}});
}

void UnitLifecycle::displace(const Unit& unit, const PointPlan& plan) {
  harq_receptions_.replace(store_.find(*plan.harq.latest, unit).used, unit, plan,
                           saturating_add(now_ns_, rules_.settle_ns));
}

void UnitLifecycle::insert(Unit* unit, const PointPlan& plan, const TableUse& use,
                           std::uint64_t hash) {
  if (auto* const evicted = store_.insert(unit, use, hash)) retire(evicted);
  const auto* const older = unit->newest_entry().older;  // than the entry that was just made
  if (older != nullptr && !use.gathers) [[unlikely]]
    forget_stale(*older, plan, use);
}

// The unit is the latest one of its process.
void UnitLifecycle::replace_rounds(Unit* unit, const PointPlan& plan) {
  if (auto* const before = store_.replace(unit, *plan.harq.latest))
    input_journeys_.unpin(*before, kLatestRound);
  for (const auto& use : plan.harq.more_latest)
    if (auto* const before = store_.replace(unit, use))
      input_journeys_.unpin(*before, kLatestRound);
  if (!plan.input) input_journeys_.pin(*unit, kLatestRound);
}

// Gives up an older unit of the same key if it waited far longer than any before it: it was not
// seen to leave. If a key has one live unit, the older one is given up at once. This is not called
// at points that gather units, because units of one key wait for each other there.
void UnitLifecycle::forget_stale(const KeyEntry& older, const PointPlan& plan,
                                 const TableUse& use) {
  auto* const stale = older.unit;
  if (evicted_units_.evicts(use)) {
    if (use.is_per_sender())
      evicted_units_.add(stale, *older.use, saturating_add(now_ns_, rules_.linger_ns));
  } else {
    const auto& stay = longest_stays_[*plan.place];
    if (!stay.is_stale(now_ns_ - stale->ts_ns)) return;
  }
  ++totals_.expired_by_reuse;
  give_up(stale, now_ns_, false);
}

void UnitLifecycle::leave(Unit* unit, std::uint64_t ts_ns) {
  if (unit->is(kInside)) {
    unit->clear(kInside);
    const auto place = *topology_.points[unit->point].place;
    longest_stays_[place].note(ts_ns - unit->entered_ns);
    if (!unit->is(kUncounted)) places_.leave(place, unit->entered_ns, ts_ns, true);
  }
  depart(unit);
}

void UnitLifecycle::depart(Unit* unit) {
  unit->set(kLeft);
  input_journeys_.left(*unit);
  // The unit was given up before and was found through a relative. Only its journeys needed the
  // call.
  if (!unit->is(kListed)) [[unlikely]]
    return;
  if (!unit->is(kAwaitsAck)) [[likely]] {
    waiting_.remove(unit);
    departed_.append(unit, now_ns_);
  }
  store_.mark_used(unit, [this](Unit* evicted) { retire(evicted); });
}

void UnitLifecycle::give_way(Unit* unit) {
  no_longer_inside(unit, topology_.points[unit->point], now_ns_);
  depart(unit);
}

void UnitLifecycle::note_rivals(Unit& unit, const Match& match) {
  if (match.unsure && match.doubts == 0)
    mixed_senders_.suspect(unit, saturating_add(now_ns_, rules_.linger_ns));
  if (match.rivals == nullptr) return;
  auto* const parent = match.parents.front();
  const auto& use = *match.rivals;
  if (!match.takes_back) {
    evicted_units_.note_taker(use, &unit, parent, saturating_add(now_ns_, rules_.linger_ns));
    return;
  }
  disprove_one_at_a_time(use);
  mixed_senders_.mix(topology_.points[unit.point].direction);
  depart(parent);
  evicted_units_.take_back(use, parent);
}

// Units that took one parent while another one was evicted may have taken the wrong one.
void UnitLifecycle::disprove_one_at_a_time(const TableUse& use) {
  evicted_units_.disprove(use, [this](Unit& taker, const EvictedUnits::Key& key) {
    if (taker.is(kAmbiguous)) return;
    group_.clear();
    for (const auto& one : key.units) group_.push_back(one.unit);
    store_.ambiguities().note(taker, {.reasons = kOthersFit, .alternatives = group_});
    ++totals_.points[taker.point].ambiguous;
    InputJourneys::doubt(taker);
  });
}

void UnitLifecycle::acknowledge(Unit* unit) {
  input_journeys_.unpin(*unit, kAwaitsAck);
  if (!unit->is(kLeft)) {
    leave(unit, now_ns_);
    return;
  }
  waiting_.remove(unit);
  departed_.append(unit, now_ns_);
}

// A unit that left is kept for a while, and longer where HARQ may still repeat it.
void UnitLifecycle::forget(Unit* unit) {
  if (unit->is(kLatestRound) && now_ns_ - unit->ts_ns <= rules_.linger_ns) {
    departed_.remove(unit);
    departed_.append(unit, now_ns_);
  } else {
    retire(unit);
  }
}

void UnitLifecycle::retire(Unit* unit) {
  if (!unit->is(kListed)) return;  // it was evicted from two tables at once
  unit->clear(kListed);
  const bool waits = !unit->is(kLeft) || unit->is(kAwaitsAck);
  if (unit->is_any(kAwaitsAck | kLatestRound)) [[unlikely]] {
    input_journeys_.unpin(*unit, kAwaitsAck);
    input_journeys_.unpin(*unit, kLatestRound);
  }
  if (waits)
    waiting_.remove(unit);
  else
    departed_.remove(unit);
  store_.remove(unit);
  store_.leave_children(unit);
  if (!topology_.points[unit->point].is_followed_back) store_.leave_parents(unit);
  store_.release(unit);
}

// The unit was not seen to leave. If journeys are anchored at their output, it ends one.
void UnitLifecycle::give_up(Unit* unit, std::uint64_t now_ns, bool at_end) {
  if (!unit->is(kLeft)) {
    const auto& plan = topology_.points[unit->point];
    no_longer_inside(unit, plan, now_ns);
    if (!plan.anchored_at_input && !unit->is(kControl) && !was_empty(*unit, plan, now_ns, at_end)) {
      const bool lost = at_end || losses_.between(unit->ts_ns, now_ns, plan.direction);
      emit_unfinished(unit, plan, now_ns, lost ? Outcome::kCensored : Outcome::kIncomplete);
      return;
    }
  }
  retire(unit);
}

void UnitLifecycle::no_longer_inside(Unit* unit, const PointPlan& plan, std::uint64_t now_ns) {
  if (!unit->is(kInside)) return;
  unit->clear(kInside);
  if (!unit->is(kUncounted)) places_.leave(*plan.place, unit->entered_ns, now_ns, false);
}

// A block that waited long enough, and of which no unit was taken out, had no packet in it.
bool UnitLifecycle::was_empty(const Unit& unit, const PointPlan& plan, std::uint64_t now_ns,
                              bool at_end) {
  if (!plan.block.is_unpacked || unit.first_child != nullptr ||
      losses_.between(unit.ts_ns, now_ns, plan.direction))
    return false;
  const auto& stay = longest_stays_[*plan.place];
  const auto limit_ns = std::max(kEmptyFloorNs, kEmptyFactor * stay.ns());
  if (at_end && (!stay.known() || now_ns - unit.ts_ns <= limit_ns)) return false;
  ++totals_.points[unit.point].control;
  return true;
}

// Segments that would have been reassembled are one journey. A segment that enters now, and because
// of which this unit is given up, is not part of it.
void UnitLifecycle::emit_unfinished(Unit* unit, const PointPlan& plan, std::uint64_t now_ns,
                                    Outcome outcome) {
  group_.assign(1, unit);
  const auto gathers = std::ranges::find_if(plan.inserts, &TableUse::gathers);
  if (gathers != plan.inserts.end())
    for (const auto* entry = store_.find(*gathers, *unit).open; entry != nullptr;
         entry = entry->older)
      if (entry->unit != unit && entry->unit->point == unit->point && entry->unit->is(kListed))
        group_.push_back(entry->unit);
  output_journeys_.emit(group_, outcome);
  for (auto* const member : group_) {
    no_longer_inside(member, plan, now_ns);
    retire(member);
  }
}

void UnitLifecycle::expire_departed() {
  while (!departed_.empty()) {
    departed_due_ns_ = saturating_add(departed_.oldest_since_ns(), rules_.settle_ns);
    if (now_ns_ <= departed_due_ns_) return;
    prefetch_next_due();
    forget(departed_.oldest());
  }
  departed_due_ns_ = saturating_add(now_ns_, rules_.settle_ns);
}

void UnitLifecycle::expire_waiting() {
  while (!waiting_.empty()) {
    waiting_due_ns_ = saturating_add(waiting_.oldest_since_ns(), rules_.expiry_ns);
    if (now_ns_ <= waiting_due_ns_) return;
    if (!waiting_.oldest()->is(kLeft)) ++totals_.expired_by_time;
    give_up(waiting_.oldest(), now_ns_, false);
  }
  waiting_due_ns_ = saturating_add(now_ns_, rules_.expiry_ns);
}

// Fetches the units that will be retired next. About one is retired with each event.
void UnitLifecycle::prefetch_next_due() const {
  constexpr std::uint32_t kNext = 2;
  constexpr std::uint32_t kSoon = 5;
  constexpr std::uint32_t kLater = 8;
  if (const auto* const unit = departed_.coming(kLater)) UnitStore::prefetch_keys(unit);
  if (const auto* const unit = departed_.coming(kSoon)) store_.prefetch_place(unit);
  if (const auto* const unit = departed_.coming(kNext)) UnitStore::prefetch_children(unit);
}

void UnitLifecycle::make_room() {
  while (store_.in_memory() > rules_.max_units) {
    if (!departed_.empty()) {
      retire(departed_.oldest());
    } else if (input_journeys_.close_oldest()) {
    } else if (!waiting_.empty()) {
      if (!waiting_.oldest()->is(kLeft)) ++totals_.expired_by_memory;
      give_up(waiting_.oldest(), now_ns_, false);
    } else {
      return;
    }
  }
}

// A unit is not marked if events were lost since. A unit from before the open mark is not marked
// either if the event by which it left may have been overwritten.
void UnitLifecycle::find_inside(const PointHistory& reach, std::uint64_t end_ns) {
  const auto leaves_seen_from = reach.leaves_seen_from();
  waiting_.for_each([&](Unit& unit) {
    const auto seen_from = leaves_seen_from[unit.point];
    const bool reaches = unit.ts_ns >= open_ns_ || (seen_from != 0 && unit.ts_ns >= seen_from);
    if (!unit.is(kInside) || !reaches) return;
    const model::Direction direction = topology_.points[unit.point].direction;
    if (losses_.between(std::max(unit.ts_ns, open_ns_), end_ns, direction)) return;
    unit.set(kAtEnd);
    input_journeys_.note_inside(unit);
  });
}

void UnitLifecycle::finish(std::uint64_t end_ns) {
  while (!waiting_.empty()) give_up(waiting_.oldest(), end_ns, true);
  while (!departed_.empty()) retire(departed_.oldest());
}

}  // namespace sojourn::journeys
