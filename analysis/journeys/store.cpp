#include "analysis/journeys/store.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace sojourn::journeys {
namespace {

constexpr std::size_t kFirstSlots = 1024;
constexpr unsigned kHashBits = 64;

unsigned shift_for(std::size_t slots) {
  return kHashBits - static_cast<unsigned>(std::countr_zero(slots));
}

}  // namespace

Store::Store(const Topology& topology)
    : topology_(topology),
      slots_(kFirstSlots),
      slot_mask_(kFirstSlots - 1),
      slot_shift_(shift_for(kFirstSlots)) {}

void Store::set_repeat(Unit* unit, Unit* earlier) {
  retain(earlier);
  unit->repeat_of = earlier;
  unit->depth = std::max(unit->depth, static_cast<std::uint16_t>(earlier->depth + 1));
}

IntervalSet& Store::covered(Unit& unit) {
  if (unit.covered == nullptr) {
    unit.covered = intervals_.take();
    unit.covered->clear();
    unit.set(kHasMore);
  }
  return *unit.covered;
}

Store::Slot& Store::slot_for(std::uint64_t hash, const TableUse& use, const Unit& unit) {
  if (keys_ * 2 > slot_mask_) grow_slots();
  auto& slot = slots_[find_slot(hash, use, unit)];
  if (slot.is_free()) {
    ++keys_;
    slot.hash = hash;
  }
  return slot;
}

void Store::grow_slots() {
  const auto before = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
  slot_mask_ = slots_.size() - 1;
  slot_shift_ = shift_for(slots_.size());
  for (const auto& slot : before) {
    if (slot.is_free()) continue;
    auto at = slot.hash >> slot_shift_;
    while (!slots_[at].is_free()) at = after(at);
    slots_[at] = slot;
  }
}

// Those behind it that were pushed on by it move up, so that none is behind a free slot.
void Store::free_slot(std::size_t freed) {
  for (auto at = after(freed); !slots_[at].is_free(); at = after(at)) {
    const auto wanted = slots_[at].hash >> slot_shift_;
    if (((at - wanted) & slot_mask_) < ((at - freed) & slot_mask_)) continue;
    slots_[freed] = slots_[at];
    freed = at;
  }
  slots_[freed] = {};
  --keys_;
}

Entry* Store::new_entry(Unit* unit, std::uint64_t hash, const TableUse& use) {
  auto* const entry = unit->first_entry.unit == nullptr ? &unit->first_entry : entries_.take();
  *entry = {.hash = hash, .unit = unit, .next = unit->entries, .use = &use};
  unit->entries = entry;
  return entry;
}

Unit* Store::insert(Unit* unit, const TableUse& use, std::uint64_t hash) {
  auto& slot = slot_for(hash, use, *unit);
  // Two of its alternatives may have one value.
  if (slot.open != nullptr && slot.open->unit == unit) return nullptr;
  auto* const fresh = new_entry(unit, hash, use);
  fresh->older = slot.open;
  if (slot.open != nullptr) slot.open->newer = fresh;
  slot.open = fresh;
  auto* const before = std::exchange(slot.used, nullptr);
  if (before == nullptr) return nullptr;
  before->state = Entry::State::kReplaced;
  auto* const evicted = before->unit;
  drop_entry(before);
  return evicted;
}

Unit* Store::replace(Unit* unit, const TableUse& use) {
  const auto hash = hash_of(use, *unit);
  auto* const before = take_used(slot_for(hash, use, *unit), new_entry(unit, hash, use));
  if (before == nullptr) return nullptr;
  auto* const earlier = before->unit;
  drop_entry(before);
  return earlier;
}

void Store::mark_used(Unit* unit, std::vector<Unit*>& evicted) {
  for (auto* entry = unit->entries; entry != nullptr; entry = entry->next) {
    if (entry->state != Entry::State::kWaits) continue;
    // Only the newest of those that wait is named by its slot.
    const bool newest = entry->newer == nullptr;
    auto& slot = slots_[newest ? find_slot(*entry) : find_slot(entry->hash, *entry->use, *unit)];
    (newest ? slot.open : entry->newer->older) = entry->older;
    if (entry->older != nullptr) entry->older->newer = entry->newer;
    entry->newer = entry->older = nullptr;
    auto* const before = take_used(slot, entry);
    if (before == nullptr) continue;
    evicted.push_back(before->unit);
    drop_entry(before);
  }
}

// Returns the one that has lost its place by it, if any.
Entry* Store::take_used(Slot& slot, Entry* entry) {
  entry->state = Entry::State::kLeft;
  auto* const before = std::exchange(slot.used, entry);
  if (before != nullptr) before->state = Entry::State::kReplaced;
  return before;
}

void Store::give_entry(Entry* entry) {
  auto* const unit = std::exchange(entry->unit, nullptr);
  if (entry != &unit->first_entry) entries_.give(entry);
}

void Store::drop_entry(Entry* entry) {
  leave_slot(*entry);
  auto** link = &entry->unit->entries;
  while (*link != entry) link = &(*link)->next;
  *link = entry->next;
  give_entry(entry);
}

void Store::remove_entries(Unit* unit) {
  for (auto* entry = std::exchange(unit->entries, nullptr); entry != nullptr;) {
    auto* const next = entry->next;
    leave_slot(*entry);
    give_entry(entry);
    entry = next;
  }
}

void Store::free_units(Unit* unit) {
  // Parents may follow, theirs too: a loop, since a chain may be long.
  for (;;) {
    free_unit(unit);
    if (dying_.empty()) return;
    unit = dying_.back();
    dying_.pop_back();
  }
}

void Store::give_more(Unit* unit) {
  for (auto* link = unit->children; link != nullptr;) {
    auto* const next = link->next;
    links_.give(link);
    link = next;
  }
  if (unit->values != unit->own_values.data())
    values_.give(unit->values, topology_.points[unit->point].values);
  if (unit->parent_count > 1) parents_.give(unit->parents, unit->parent_count);
  if (unit->member_count > 1) members_.give(unit->members, unit->member_count);
  if (unit->covered != nullptr) intervals_.give(unit->covered);
}

void Store::free_unit(Unit* unit) {
  remove(unit);
  for (auto* const parent : unit->all_parents())
    if (--parent->references == 0) dying_.push_back(parent);
  if (unit->repeat_of != nullptr && --unit->repeat_of->references == 0)
    dying_.push_back(unit->repeat_of);
  if (unit->is(kHasMore)) give_more(unit);
  unit->serial = 0;
  fetch_spare(unit);
  units_.give(unit);
}

}  // namespace sojourn::journeys
