#include "analysis/journeys/units/unit_store.h"

#include <algorithm>
#include <utility>

namespace sojourn::journeys {

UnitStore::UnitStore(const Topology& topology) : topology_(topology), ambiguities_(topology) {}

void UnitStore::set_repeat(Unit* unit, Unit* earlier) {
  retain(earlier);
  unit->repeat_of = earlier;
  unit->set(kRepeats);
  unit->depth = std::max(unit->depth, static_cast<std::uint16_t>(earlier->depth + 1));
}

void UnitStore::leave_many_parents(Unit* unit) {
  for (auto* const parent : unit->all_parents()) release(parent);
  parents_.give(unit->parents, unit->parent_count);
  unit->parent_count = 0;
}

void UnitStore::leave_other_children(UnitExtra& more) {
  while (more.child_count > 0) release(more.children[--more.child_count].unit);
  while (auto* const link = more.later_children) {
    more.later_children = link->next;
    release(link->child.unit);
    links_.give(link);
  }
}

UnitExtra& UnitStore::make_extra(Unit& unit) {
  unit.more = more_.take();
  unit.more->covered.clear();
  unit.more->child_count = 0;
  unit.more->later_children = nullptr;
  unit.set(kHasExtra);
  return *unit.more;
}

// Takes a run of values, which are more than the unit has room for.
std::uint64_t* UnitStore::take_values(Unit& unit, std::size_t count) {
  unit.set(kHasExtra);
  return values_.take(count);
}

KeyEntry* UnitStore::new_entry(Unit* unit, std::uint64_t hash, const TableUse& use) {
  auto* entry = &unit->entry;
  if (unit->has_entries()) entry = add_entry_behind(*unit);
  entry->hash = hash;
  entry->unit = unit;
  entry->older = entry->left = nullptr;
  entry->use = &use;
  entry->state = KeyEntry::State::kWaits;
  entry->newest = true;
  return entry;
}

// Adds an entry right behind the first one of the unit, whose `next` is null in a new unit.
[[gnu::noinline]] KeyEntry* UnitStore::add_entry_behind(Unit& unit) {
  auto* const entry = entries_.take();
  entry->next = std::exchange(unit.entry.next, entry);
  return entry;
}

Unit* UnitStore::insert(Unit* unit, const TableUse& use, std::uint64_t hash) {
  auto* const first = find_key(hash, use, *unit);
  if (first != nullptr) return insert_before(*first, unit, use);
  keys_.add(new_entry(unit, hash, use));
  return nullptr;
}

[[gnu::noinline]] Unit* UnitStore::insert_before(KeyEntry& first, Unit* unit, const TableUse& use) {
  // The unit may have the same key by two alternative fields.
  if (first.unit == unit) return nullptr;
  auto* const fresh = new_entry(unit, first.hash, use);
  keys_.put(fresh, first);
  auto* left = &first;
  if (first.state == KeyEntry::State::kWaits) {
    left = first.left;
    fresh->older = &first;
    first.newest = false;
    first.newer = fresh;
  }
  return left == nullptr ? nullptr : forget_left(left);
}

Unit* UnitStore::replace(Unit* unit, const TableUse& use) {
  const auto hash = hash_of(use, *unit);
  auto* const first = find_key(hash, use, *unit);
  auto* const fresh = new_entry(unit, hash, use);
  fresh->state = KeyEntry::State::kLeft;
  if (first == nullptr) {
    keys_.add(fresh);
    return nullptr;
  }
  keys_.put(fresh, *first);
  return forget_left(first);
}

// Removes an entry from those that wait. It becomes the entry of its key that left last; the
// previous one is returned.
KeyEntry* UnitStore::take_from_waiting(KeyEntry& entry) {
  if (!entry.newest) [[unlikely]] {
    entry.newer->older = entry.older;
    if (entry.older != nullptr) entry.older->newer = entry.newer;
    return std::exchange(keys_.standing_for(entry)->left, &entry);
  }
  auto* const left = entry.left;
  if (auto* const newest = entry.older) [[unlikely]] {
    newest->newest = true;
    newest->left = &entry;
    keys_.put(newest, entry);
  }
  return left;
}

// Removes an entry that left from its unit. The entry is not in the table any more.
Unit* UnitStore::forget_left(KeyEntry* entry) {
  auto* const unit = entry->unit;
  if (entry == &unit->entry) {
    entry->unit = nullptr;
    return unit;
  }
  auto** link = &unit->entry.next;
  while (*link != entry) link = &(*link)->next;
  *link = entry->next;
  entries_.give(entry);
  return unit;
}

// Removes all entries but the first.
void UnitStore::remove_others(Unit* unit) {
  for (auto* entry = std::exchange(unit->entry.next, nullptr); entry != nullptr;) {
    auto* const next = entry->next;
    leave_key(*entry);
    entries_.give(entry);
    entry = next;
  }
}

void UnitStore::free_units(Unit* unit) {
  // Parents may be freed with it, and theirs as well. This is a loop, since a chain may be long.
  free_unit(unit);
  while (dying_ != nullptr) free_unit(std::exchange(dying_, dying_->next_dying));
}

void UnitStore::give_back_extra(Unit* unit) {
  if (unit->more != nullptr) more_.give(unit->more);
  if (unit->values != unit->own_values.data())
    values_.give(unit->values, topology_.points[unit->point].values);
  if (unit->parent_count > 1) parents_.give(unit->parents, unit->parent_count);
  if (unit->member_count > 1) {
    members_.give(unit->members, unit->member_count);
    drop_parts(unit->member_count);
  }
  if (unit->is(kAmbiguous)) ambiguities_.forget(*unit);
}

// The unit was removed from its keys before its last reference was released.
inline void UnitStore::free_unit(Unit* unit) {
  for (auto* const parent : unit->all_parents()) let_go(parent);
  if (unit->is(kRepeats)) [[unlikely]]
    let_go(unit->repeat_of);
  if (unit->is(kHasExtra)) give_back_extra(unit);
  unit->serial = 0;
  prefetch_spare(unit);
  units_.give(unit);
}

}  // namespace sojourn::journeys
