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
    : topology_(topology), slots_(kFirstSlots), slot_shift_(shift_for(kFirstSlots)) {}

void Store::set_repeat(Unit* unit, Unit* earlier) {
  retain(earlier);
  unit->repeat_of = earlier;
  unit->depth = std::max(unit->depth, static_cast<std::uint16_t>(earlier->depth + 1));
}

IntervalSet& Store::covered(Unit& unit) {
  if (unit.covered == nullptr) {
    unit.covered = intervals_.take();
    unit.covered->clear();
  }
  return *unit.covered;
}

Holder* Store::holder_for(std::uint64_t hash, const TableUse& use, const Unit& unit) {
  auto at = find_slot(hash, use, unit);
  if (slots_[at].holder != nullptr) return slots_[at].holder;
  if (holders_.used() * 2 >= slots_.size()) {
    grow_slots();
    at = find_slot(hash, use, unit);
  }
  auto* const holder = holders_.take();
  *holder = {.hash = hash};
  slots_[at] = {hash, holder};
  return holder;
}

void Store::grow_slots() {
  const auto before = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
  slot_shift_ = shift_for(slots_.size());
  for (const auto& slot : before) {
    if (slot.holder == nullptr) continue;
    auto at = slot.hash >> slot_shift_;
    while (slots_[at].holder != nullptr) at = after(at);
    slots_[at] = slot;
  }
}

// Those behind it that were pushed on by it move up, so that none is behind a free slot.
void Store::free_holder(Holder* holder) {
  auto freed = holder->hash >> slot_shift_;
  while (slots_[freed].holder != holder) freed = after(freed);
  for (auto at = after(freed); slots_[at].holder != nullptr; at = after(at)) {
    const auto wanted = slots_[at].hash >> slot_shift_;
    const auto mask = slots_.size() - 1;
    if (((at - wanted) & mask) < ((at - freed) & mask)) continue;
    slots_[freed] = slots_[at];
    freed = at;
  }
  slots_[freed].holder = nullptr;
  holders_.give(holder);
}

Entry* Store::new_entry(Unit* unit, Holder* holder, const TableUse& use) {
  auto* const entry = unit->first_entry.unit == nullptr ? &unit->first_entry : entries_.take();
  *entry = {.holder = holder, .unit = unit, .next = unit->entries, .use = &use};
  unit->entries = entry;
  return entry;
}

void Store::insert(Unit* unit, const TableUse& use, std::uint64_t hash,
                   std::vector<Unit*>& evicted) {
  auto* const holder = holder_for(hash, use, *unit);
  // Two of its alternatives may have one value.
  for (const auto* held = unit->entries; held != nullptr; held = held->next)
    if (held->holder == holder) return;
  auto* const fresh = new_entry(unit, holder, use);
  fresh->older = holder->open;
  if (holder->open != nullptr) holder->open->newer = fresh;
  holder->open = fresh;
  if (holder->used == nullptr) return;
  evicted.push_back(holder->used->unit);
  drop_entry(holder->used);
}

Unit* Store::replace(Unit* unit, const TableUse& use) {
  auto* const holder = holder_for(hash_of(use, *unit), use, *unit);
  auto* const fresh = new_entry(unit, holder, use);
  fresh->used = true;
  auto* const before = std::exchange(holder->used, fresh);
  if (before == nullptr) return nullptr;
  auto* const earlier = before->unit;
  before->holder = nullptr;
  drop_entry(before);
  return earlier;
}

void Store::mark_used(Unit* unit, std::vector<Unit*>& evicted) {
  for (auto* entry = unit->entries; entry != nullptr; entry = entry->next) {
    if (entry->used) continue;
    auto& holder = *entry->holder;
    leave_chain(*entry, holder);
    entry->newer = entry->older = nullptr;
    entry->used = true;
    auto* const before = std::exchange(holder.used, entry);
    if (before == nullptr) continue;
    evicted.push_back(before->unit);
    before->holder = nullptr;
    drop_entry(before);
  }
}

void Store::give_entry(Entry* entry) {
  auto* const unit = std::exchange(entry->unit, nullptr);
  if (entry != &unit->first_entry) entries_.give(entry);
}

void Store::drop_entry(Entry* entry) {
  leave_holder(*entry);
  auto** link = &entry->unit->entries;
  while (*link != entry) link = &(*link)->next;
  *link = entry->next;
  give_entry(entry);
}

void Store::remove_entries(Unit* unit) {
  for (auto* entry = std::exchange(unit->entries, nullptr); entry != nullptr;) {
    auto* const next = entry->next;
    leave_holder(*entry);
    give_entry(entry);
    entry = next;
  }
}

void Store::free_units(Unit* unit) {
  // Parents may follow, theirs too: a loop, since a chain may be long.
  dying_.push_back(unit);
  while (!dying_.empty()) {
    auto* const dead = dying_.back();
    dying_.pop_back();
    free_unit(dead);
  }
}

void Store::free_unit(Unit* unit) {
  remove(unit);
  for (auto* const parent : unit->all_parents())
    if (--parent->references == 0) dying_.push_back(parent);
  if (unit->repeat_of != nullptr && --unit->repeat_of->references == 0)
    dying_.push_back(unit->repeat_of);
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
  unit->serial = 0;
  units_.give(unit);
}

}  // namespace sojourn::journeys
