#include "analysis/journeys/store.h"

#include <algorithm>
#include <utility>

namespace sojourn::journeys {
namespace {

constexpr std::size_t kFirstSlots = 256;

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 32);
}

}  // namespace

UnitId Store::create(const model::EventView& event, std::uint64_t serial, std::uint16_t group) {
  const auto id = units_.take();
  auto& unit = units_[id];
  unit = Unit{};
  unit.ts_ns = event.ts_ns;
  unit.entered_ns = event.ts_ns;
  unit.serial = serial;
  unit.seq = event.seq;
  unit.tid = event.tid;
  unit.stream = event.stream;
  unit.point = event.point;
  unit.group = group;
  if (event.values.size() <= unit.values.size()) {
    std::ranges::copy(event.values, unit.values.begin());
  } else {
    const auto count = static_cast<std::uint32_t>(event.values.size());
    unit.more_values = values_.take(count);
    std::ranges::copy(event.values, values_.run(unit.more_values, count).begin());
  }
  return id;
}

void Store::set_parents(UnitId id, std::span<const UnitId> parents) {
  const auto count = static_cast<std::uint32_t>(parents.size());
  const auto at = parents_.take(count);
  std::ranges::copy(parents, parents_.run(at, count).begin());
  auto& unit = units_[id];
  unit.parents = at;
  unit.parent_count = count;
  for (const auto parent : parents) {
    retain(parent);
    unit.depth =
        std::max<std::uint16_t>(unit.depth, static_cast<std::uint16_t>(units_[parent].depth + 1));
  }
}

void Store::set_repeat(UnitId id, UnitId earlier) {
  retain(earlier);
  auto& unit = units_[id];
  unit.repeat_of = earlier;
  unit.depth =
      std::max<std::uint16_t>(unit.depth, static_cast<std::uint16_t>(units_[earlier].depth + 1));
}

void Store::add_child(UnitId parent, UnitId child, Interval bytes) {
  const auto at = links_.take();
  links_[at] = {units_[child].serial, child, units_[parent].children, bytes};
  units_[parent].children = at;
}

IntervalSet& Store::covered(Unit& unit) {
  if (unit.covered == kNone) {
    unit.covered = intervals_.take();
    intervals_[unit.covered].clear();
  }
  return intervals_[unit.covered];
}

std::span<Member> Store::make_members(UnitId id, std::uint32_t count) {
  auto& unit = units_[id];
  unit.members = members_.take(count);
  unit.member_count = count;
  return members_.run(unit.members, count);
}

void Store::take_key(std::uint16_t table, const FieldIndexes& fields, const Unit& unit,
                     Key& key) const {
  const auto held = values(unit);
  key.group = unit.group;
  key.hash = std::uint64_t{unit.group} << 16 | table;
  key.size = fields.size();
  for (std::size_t i = 0; i < key.size; ++i) {
    key.values[i] = held[fields[i]];
    key.hash = mix(key.hash, key.values[i]);
  }
}

bool Store::has_key(const Slot& slot, const Key& key) const {
  const auto& entry = entries_[slot.open != kNone ? slot.open : slot.used];
  const auto& unit = units_[entry.unit];
  if (unit.group != key.group) return false;
  const auto held = values(unit);
  const auto& fields = *entry.fields;
  for (std::size_t i = 0; i < key.size; ++i)
    if (held[fields[i]] != key.values[i]) return false;
  return true;
}

// The slot of a key, or the empty one where it would go.
std::size_t Store::locate(const Table& table, const Key& key) const {
  const auto mask = table.slots.size() - 1;
  auto at = key.hash & mask;
  while (!table.slots[at].empty()) {
    if (table.slots[at].hash == key.hash && has_key(table.slots[at], key)) break;
    at = (at + 1) & mask;
  }
  return at;
}

// The slot that holds an entry, wherever in the slot's chain it is.
std::size_t Store::locate_entry(const Table& table, std::uint32_t entry) const {
  const auto& held = entries_[entry];
  const auto mask = table.slots.size() - 1;
  Key key;
  for (auto at = held.hash & mask;; at = (at + 1) & mask) {
    const auto& slot = table.slots[at];
    if (slot.open == entry || slot.used == entry) return at;
    if (slot.hash != held.hash) continue;
    take_key(held.table, *held.fields, units_[held.unit], key);
    if (has_key(slot, key)) return at;
  }
}

std::size_t Store::slot_for(std::uint16_t index, const Key& key) {
  auto& table = tables_[index];
  if ((table.filled + 1) * 2 > table.slots.size()) grow(table);
  const auto at = locate(table, key);
  if (table.slots[at].empty()) {
    table.slots[at].hash = key.hash;
    ++table.filled;
  }
  return at;
}

void Store::grow(Table& table) {
  std::vector<Slot> slots(std::max(kFirstSlots, table.slots.size() * 2));
  const auto mask = slots.size() - 1;
  for (const auto& slot : table.slots) {
    if (slot.empty()) continue;
    auto at = slot.hash & mask;
    while (!slots[at].empty()) at = (at + 1) & mask;
    slots[at] = slot;
  }
  table.slots = std::move(slots);
}

void Store::erase_slot(Table& table, std::size_t at) {
  const auto mask = table.slots.size() - 1;
  --table.filled;
  for (auto from = (at + 1) & mask; !table.slots[from].empty(); from = (from + 1) & mask) {
    const auto home = table.slots[from].hash & mask;
    if (((from - home) & mask) >= ((from - at) & mask)) {
      table.slots[at] = table.slots[from];
      at = from;
    }
  }
  table.slots[at] = Slot{};
}

Store::Found Store::find(const TableUse& use, const Unit& unit) const {
  const auto& table = tables_[use.table];
  if (table.filled == 0) return {};
  Key key;
  take_key(use.table, use.fields, unit, key);
  const auto& slot = table.slots[locate(table, key)];
  return {slot.open, slot.used == kNone ? kNone : entries_[slot.used].unit};
}

std::uint32_t Store::new_entry(UnitId id, const TableUse& use, std::uint64_t hash) {
  const auto at = entries_.take();
  auto& entry = entries_[at];
  entry = {};
  entry.hash = hash;
  entry.unit = id;
  entry.fields = &use.fields;
  entry.table = use.table;
  entry.next = units_[id].entries;
  units_[id].entries = at;
  return at;
}

void Store::insert(UnitId id, const TableUse& use, std::vector<UnitId>& evicted) {
  Key key;
  take_key(use.table, use.fields, units_[id], key);
  // Two of its alternatives may have one value.
  for (auto held = units_[id].entries; held != kNone; held = entries_[held].next)
    if (entries_[held].table == use.table && entries_[held].hash == key.hash) return;
  const auto at = slot_for(use.table, key);
  const auto fresh = new_entry(id, use, key.hash);
  auto& slot = tables_[use.table].slots[at];
  const auto used = slot.used;
  entries_[fresh].older = slot.open;
  if (slot.open != kNone) entries_[slot.open].newer = fresh;
  slot.open = fresh;
  if (used == kNone) return;
  evicted.push_back(entries_[used].unit);
  drop_entry(used);
}

UnitId Store::replace(UnitId id, const TableUse& use) {
  Key key;
  take_key(use.table, use.fields, units_[id], key);
  const auto at = slot_for(use.table, key);
  const auto fresh = new_entry(id, use, key.hash);
  entries_[fresh].used = true;
  auto& slot = tables_[use.table].slots[at];
  const auto before = std::exchange(slot.used, fresh);
  if (before == kNone) return kNone;
  const auto unit = entries_[before].unit;
  entries_[before].table = UINT16_MAX;  // not in a slot any more
  drop_entry(before);
  return unit;
}

void Store::mark_used(UnitId id, std::vector<UnitId>& evicted) {
  for (auto at = units_[id].entries; at != kNone; at = entries_[at].next) {
    auto& entry = entries_[at];
    if (entry.used) continue;
    auto& table = tables_[entry.table];
    auto& slot = table.slots[locate_entry(table, at)];
    if (entry.newer != kNone) entries_[entry.newer].older = entry.older;
    if (entry.older != kNone) entries_[entry.older].newer = entry.newer;
    if (slot.open == at) slot.open = entry.older;
    entry.newer = entry.older = kNone;
    entry.used = true;
    const auto before = std::exchange(slot.used, at);
    if (before == kNone) continue;
    evicted.push_back(entries_[before].unit);
    entries_[before].table = UINT16_MAX;
    drop_entry(before);
  }
}

// Takes an entry out of its slot, and the slot out of its table when that was the last.
void Store::detach(std::uint32_t at) {
  auto& entry = entries_[at];
  if (entry.table == UINT16_MAX) return;
  auto& table = tables_[entry.table];
  const auto where = locate_entry(table, at);
  auto& slot = table.slots[where];
  if (slot.used == at) slot.used = kNone;
  if (slot.open == at) slot.open = entry.older;
  if (entry.newer != kNone) entries_[entry.newer].older = entry.older;
  if (entry.older != kNone) entries_[entry.older].newer = entry.newer;
  if (slot.empty()) erase_slot(table, where);
}

void Store::drop_entry(std::uint32_t at) {
  detach(at);
  auto* link = &units_[entries_[at].unit].entries;
  while (*link != at) link = &entries_[*link].next;
  *link = entries_[at].next;
  entries_.give(at);
}

void Store::remove(UnitId id) {
  while (units_[id].entries != kNone) drop_entry(units_[id].entries);
}

void Store::release(UnitId id) {
  if (--units_[id].references != 0) return;
  // Parents may follow, theirs too: a loop, since a chain may be long.
  dying_.push_back(id);
  while (!dying_.empty()) {
    const auto dead = dying_.back();
    dying_.pop_back();
    free_unit(dead);
  }
}

void Store::free_unit(UnitId id) {
  remove(id);
  auto& unit = units_[id];
  for (const auto parent : parents(unit))
    if (--units_[parent].references == 0) dying_.push_back(parent);
  if (unit.repeat_of != kNone && --units_[unit.repeat_of].references == 0)
    dying_.push_back(unit.repeat_of);
  for (auto at = unit.children; at != kNone;) {
    const auto next = links_[at].next;
    links_.give(at);
    at = next;
  }
  if (unit.more_values != kNone)
    values_.give(unit.more_values, topology_.points[unit.point].values);
  parents_.give(unit.parents, unit.parent_count);
  members_.give(unit.members, unit.member_count);
  if (unit.covered != kNone) intervals_.give(unit.covered);
  unit.serial = 0;
  units_.give(id);
}

void Store::append(AgeList& list, UnitId id, std::uint64_t now_ns) {
  auto& unit = units_[id];
  unit.since_ns = now_ns;
  unit.previous = list.newest;
  unit.next = kNone;
  (list.newest == kNone ? list.oldest : units_[list.newest].next) = id;
  list.newest = id;
}

void Store::unlink(AgeList& list, UnitId id) {
  auto& unit = units_[id];
  (unit.previous == kNone ? list.oldest : units_[unit.previous].next) = unit.next;
  (unit.next == kNone ? list.newest : units_[unit.next].previous) = unit.previous;
  unit.previous = unit.next = kNone;
}

}  // namespace sojourn::journeys
