#include "analysis/journeys/store.h"

#include <algorithm>
#include <utility>

namespace sojourn::journeys {
namespace {

constexpr std::size_t kFirstBuckets = 1024;
const Unit kFresh;

}  // namespace

Store::Store(const Topology& topology)
    : topology_(topology), buckets_(kFirstBuckets, kNone), key_sizes_(topology.tables) {
  const auto note = [this](const TableUse& use) {
    key_sizes_[use.table] = static_cast<std::uint8_t>(use.fields.size());
  };
  for (const auto& plan : topology.points) {
    std::ranges::for_each(plan.inserts, note);
    if (plan.repeats) note(*plan.repeats);
  }
}

UnitId Store::create(const model::EventView& event, std::uint64_t serial, std::uint16_t group) {
  const auto id = units_.take();
  auto& unit = units_[id];
  unit = kFresh;
  unit.ts_ns = event.ts_ns;
  unit.entered_ns = event.ts_ns;
  unit.serial = serial;
  unit.seq = event.seq;
  unit.tid = event.tid;
  unit.stream = event.stream;
  unit.point = event.point;
  unit.group = group;
  if (event.values.size() <= unit.values.size()) {
    for (std::size_t i = 0; i < event.values.size(); ++i) unit.values[i] = event.values[i];
  } else {
    const auto count = static_cast<std::uint32_t>(event.values.size());
    unit.more_values = values_.take(count);
    std::ranges::copy(event.values, values_.run(unit.more_values, count).begin());
  }
  return id;
}

void Store::set_parents(UnitId id, std::span<const UnitId> parents) {
  const auto count = static_cast<std::uint32_t>(parents.size());
  auto& unit = units_[id];
  unit.parent_count = count;
  if (count == 1) {
    unit.parents = parents.front();
  } else {
    unit.parents = parents_.take(count);
    std::ranges::copy(parents, parents_.run(unit.parents, count).begin());
  }
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
  auto& unit = units_[parent];
  if (unit.first_child.child == kNone) {
    unit.first_child = {units_[child].serial, child, kNone, bytes};
    return;
  }
  const auto at = links_.take();
  links_[at] = {units_[child].serial, child, unit.children, bytes};
  unit.children = at;
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

std::uint32_t Store::holder_for(const Key& key) {
  const auto found = find_holder(key);
  if (found != kNone) return found;
  if (holders_.used() >= buckets_.size()) grow_buckets();
  const auto at = holders_.take();
  auto& holder = holders_[at];
  auto& bucket = buckets_[key.hash & (buckets_.size() - 1)];
  holder.hash = key.hash;
  holder.open = holder.used = kNone;
  holder.next = std::exchange(bucket, at);
  holder.table = key.table;
  holder.group = key.group;
  const bool fits = key.size <= kHeld;
  const auto here = fits ? key.size : kHeld - 1;
  for (std::size_t i = 0; i < here; ++i) holder.values[i] = key.values[i];
  if (fits) return at;
  const auto count = static_cast<std::uint32_t>(key.size - here);
  const auto rest = values_.take(count);
  std::copy_n(key.values.begin() + here, count, values_.run(rest, count).begin());
  holder.values[here] = rest;
  return at;
}

void Store::grow_buckets() {
  std::vector<std::uint32_t> buckets(buckets_.size() * 2, kNone);
  for (auto at : buckets_) {
    while (at != kNone) {
      auto& holder = holders_[at];
      auto& bucket = buckets[holder.hash & (buckets.size() - 1)];
      const auto next = std::exchange(holder.next, bucket);
      bucket = std::exchange(at, next);
    }
  }
  buckets_ = std::move(buckets);
}

void Store::free_holder(std::uint32_t at) {
  const auto& holder = holders_[at];
  auto* link = &buckets_[holder.hash & (buckets_.size() - 1)];
  while (*link != at) link = &holders_[*link].next;
  *link = holder.next;
  if (const std::size_t size = key_sizes_[holder.table]; size > kHeld)
    values_.give(static_cast<std::uint32_t>(holder.values[kHeld - 1]),
                 static_cast<std::uint32_t>(size - (kHeld - 1)));
  holders_.give(at);
}

std::uint32_t Store::new_entry(UnitId id, std::uint32_t holder) {
  const auto at = entries_.take();
  entries_[at] = {.holder = holder, .unit = id, .next = units_[id].entries};
  units_[id].entries = at;
  return at;
}

void Store::insert(UnitId id, const TableUse& use, std::vector<UnitId>& evicted) {
  Key key;
  take_key(use, values_of(units_[id]), units_[id].group, key);
  const auto at = holder_for(key);
  // Two of its alternatives may have one value.
  for (auto held = units_[id].entries; held != kNone; held = entries_[held].next)
    if (entries_[held].holder == at) return;
  const auto fresh = new_entry(id, at);
  auto& holder = holders_[at];
  entries_[fresh].older = holder.open;
  if (holder.open != kNone) entries_[holder.open].newer = fresh;
  holder.open = fresh;
  if (holder.used == kNone) return;
  evicted.push_back(entries_[holder.used].unit);
  drop_entry(holder.used);
}

UnitId Store::replace(UnitId id, const TableUse& use) {
  Key key;
  take_key(use, values_of(units_[id]), units_[id].group, key);
  const auto at = holder_for(key);
  const auto fresh = new_entry(id, at);
  entries_[fresh].used = true;
  const auto before = std::exchange(holders_[at].used, fresh);
  if (before == kNone) return kNone;
  const auto unit = entries_[before].unit;
  entries_[before].holder = kNone;
  drop_entry(before);
  return unit;
}

void Store::leave_chain(Entry& entry, std::uint32_t at, Holder& holder) {
  if (entry.newer != kNone) entries_[entry.newer].older = entry.older;
  if (entry.older != kNone) entries_[entry.older].newer = entry.newer;
  if (holder.open == at) holder.open = entry.older;
}

void Store::mark_used(UnitId id, std::vector<UnitId>& evicted) {
  for (auto at = units_[id].entries; at != kNone; at = entries_[at].next) {
    auto& entry = entries_[at];
    if (entry.used) continue;
    auto& holder = holders_[entry.holder];
    leave_chain(entry, at, holder);
    entry.newer = entry.older = kNone;
    entry.used = true;
    const auto before = std::exchange(holder.used, at);
    if (before == kNone) continue;
    evicted.push_back(entries_[before].unit);
    entries_[before].holder = kNone;
    drop_entry(before);
  }
}

// The last entry takes its holder along.
void Store::drop_entry(std::uint32_t at) {
  auto& entry = entries_[at];
  if (entry.holder != kNone) {
    auto& holder = holders_[entry.holder];
    if (holder.used == at) holder.used = kNone;
    leave_chain(entry, at, holder);
    if (holder.open == kNone && holder.used == kNone) free_holder(entry.holder);
  }
  auto* link = &units_[entry.unit].entries;
  while (*link != at) link = &entries_[*link].next;
  *link = entry.next;
  entries_.give(at);
}

void Store::remove(UnitId id) {
  while (units_[id].entries != kNone) drop_entry(units_[id].entries);
}

void Store::free_units(UnitId id) {
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
  if (unit.parent_count > 1) parents_.give(unit.parents, unit.parent_count);
  members_.give(unit.members, unit.member_count);
  if (unit.covered != kNone) intervals_.give(unit.covered);
  unit.serial = 0;
  units_.give(id);
}

}  // namespace sojourn::journeys
