// The units in flight and how children find them. A Unit is one event whose unit may still be
// matched, or that something in memory refers to: it lives while its count is not zero. A Holder
// has the units of one key in one place: those that wait there (newest first) and the one that
// left last. Everything is indices into pools; no allocation in the steady state. What is looked at
// again after a while has left the caches, so things that are needed together lie together, and
// what will be needed soon can be fetched ahead.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/journeys/intervals.h"
#include "analysis/journeys/pools.h"
#include "analysis/journeys/topology.h"
#include "analysis/model/event.h"

namespace sojourn::journeys {

using UnitId = std::uint32_t;

enum Flag : std::uint16_t {
  kLeft = 1 << 0,      // left its place
  kInside = 1 << 1,    // counted as being in its place
  kHeadless = 1 << 2,  // its beginning was not seen; not yet known why
  kCut = 1 << 3,       // ... because of the capture's start or a loss
  kOrphan = 1 << 4,    // ... for no known reason
  kControl = 1 << 5,
  kAmbiguous = 1 << 6,
  kMissing = 1 << 7,       // a piece of it was not seen
  kAgain = 1 << 8,         // a repeat that passes through its place once more
  kAwaitsAck = 1 << 9,     // kept until acknowledged
  kLatestRound = 1 << 10,  // the next repeat of its process would be of this one
  kVisited = 1 << 11,      // by a walk that is under way
  kListed = 1 << 12,       // in one of the lists by age
  kBefore = 1 << 13,       // entered its place before the open mark: not counted there
  kAtEnd = 1 << 14,        // the capture's end found it in its place
};

// A journey's part in a unit, for journeys that are anchored at their input.
struct Member {
  std::uint32_t journey = kNone;
  std::uint32_t serial = 0;  // of the journey: a closed one's members are ignored
  std::uint32_t step = 0;
  bool has_bytes = false;
  bool again = false;
  Interval bytes;
};

// A parent's knowledge of a child; the child may be gone (then its serial differs).
struct Link {
  std::uint64_t serial = 0;
  UnitId child = kNone;
  std::uint32_t next = kNone;
  Interval bytes;
};

struct Unit {
  std::uint64_t ts_ns = 0;
  std::uint64_t serial = 0;      // ordinal of its event
  std::uint64_t seq = 0;         // of its event in the stream
  std::uint64_t entered_ns = 0;  // when its stay in the place began
  std::uint64_t since_ns = 0;    // when it came into its list
  std::uint32_t tid = 0;
  std::uint32_t stream = 0;
  std::uint32_t more_values = kNone;  // where there are more than `values` holds
  std::uint32_t parents = kNone;      // of one: the parent itself
  std::uint32_t parent_count = 0;
  std::uint32_t members = kNone;
  std::uint32_t member_count = 0;
  std::uint32_t children = kNone;  // newest Link but for the first child
  std::uint32_t entries = kNone;   // first Entry
  std::uint32_t covered = kNone;   // IntervalSet of bytes that left
  std::uint32_t previous = kNone;
  std::uint32_t next = kNone;
  std::uint32_t references = 0;
  UnitId repeat_of = kNone;
  std::uint32_t alternatives = 0;
  std::uint16_t depth = 0;  // longest chain of units before it
  std::uint16_t flags = 0;
  PointId point = 0;
  std::uint16_t group = 0;  // of processes: units of different ones never meet
  Link first_child;         // mostly there is no other
  std::array<std::uint64_t, 6> values = {};

  bool is(Flag flag) const { return (flags & flag) != 0; }
  void set(Flag flag) { flags = static_cast<std::uint16_t>(flags | flag); }
  void clear(Flag flag) { flags = static_cast<std::uint16_t>(flags & ~flag); }
};

// Units by age: those that wait, and those that left and are kept for late repeats.
struct AgeList {
  UnitId oldest = kNone;
  UnitId newest = kNone;
};

class Store {
 public:
  explicit Store(const Topology& topology);

  UnitId create(const model::EventView& event, std::uint64_t serial, std::uint16_t group);
  Unit& operator[](UnitId id) { return units_[id]; }
  const Unit& operator[](UnitId id) const { return units_[id]; }
  std::span<const std::uint64_t> values(const Unit& unit) const {
    const auto count = topology_.points[unit.point].values;
    if (count <= unit.values.size()) return std::span(unit.values).first(count);
    return values_.run(unit.more_values, count);
  }
  std::span<const UnitId> parents(const Unit& unit) const {
    if (unit.parent_count == 1) return {&unit.parents, 1};
    return parents_.run(unit.parents, unit.parent_count);
  }

  // Makes `parents` the unit's own and keeps them in memory as long as it is.
  void set_parents(UnitId id, std::span<const UnitId> parents);
  void set_repeat(UnitId id, UnitId earlier);
  void add_child(UnitId parent, UnitId child, Interval bytes);
  // The newest child that is still in memory and satisfies `fits(child, bytes)`.
  template <typename Fits>
  UnitId newest_child(UnitId parent, Fits fits) const;

  // What a look-up finds. `open` is the newest unit that waits, follow with older().
  struct Found {
    std::uint32_t open = kNone;  // Entry
    UnitId used = kNone;
  };
  Found find(const TableUse& use, const Unit& unit) const;
  std::uint32_t older(std::uint32_t entry) const { return entries_[entry].older; }
  UnitId unit_of(std::uint32_t entry) const { return entries_[entry].unit; }

  // Makes a unit findable. Returns, through `evicted`, units that left earlier under the same key.
  void insert(UnitId id, const TableUse& use, std::vector<UnitId>& evicted);
  // Makes it the only one of its key; the one before is returned (kNone: none).
  UnitId replace(UnitId id, const TableUse& use);
  // It left: in each of its tables it takes the place of the one that left before.
  void mark_used(UnitId id, std::vector<UnitId>& evicted);
  // Nothing finds it any more.
  void remove(UnitId id);

  void retain(UnitId id) { ++units_[id].references; }
  void release(UnitId id) {
    if (--units_[id].references == 0) free_units(id);
  }

  // It will be looked at soon.
  void fetch(UnitId id) const {
    const auto* bytes = reinterpret_cast<const char*>(&units_[id]);
    for (std::size_t at = 0; at < sizeof(Unit); at += kCacheLine) __builtin_prefetch(bytes + at);
  }
  // The same of what hangs on it; the unit itself was fetched.
  void fetch_entries(UnitId id) const {
    if (units_[id].entries == kNone) return;
    const auto& entry = entries_[units_[id].entries];
    if (entry.holder != kNone) __builtin_prefetch(&holders_[entry.holder]);
  }

  void append(AgeList& list, UnitId id, std::uint64_t now_ns);
  void unlink(AgeList& list, UnitId id);

  IntervalSet& covered(Unit& unit);
  std::span<Member> members(const Unit& unit) {
    return members_.run(unit.members, unit.member_count);
  }
  std::span<Member> make_members(UnitId id, std::uint32_t count);

  std::size_t in_memory() const { return units_.used(); }

 private:
  static constexpr std::size_t kCacheLine = 64;

  // A unit under one of its keys.
  struct Entry {
    std::uint32_t holder = kNone;  // none: another has taken its place there
    UnitId unit = kNone;
    std::uint32_t older = kNone;
    std::uint32_t newer = kNone;
    std::uint32_t next = kNone;  // of the same unit, under another key
    bool used = false;
  };
  // Values of a key that a holder has no room for.
  static constexpr std::size_t kHeld = 5;
  struct alignas(kCacheLine) Holder {
    std::uint64_t hash = 0;
    std::uint32_t open = kNone;  // Entry
    std::uint32_t used = kNone;  // Entry
    std::uint32_t next = kNone;  // of the same bucket
    std::uint16_t table = 0;
    std::uint16_t group = 0;
    // The key; of a longer one the last is where in values_ the rest is.
    std::array<std::uint64_t, kHeld> values = {};
  };
  static_assert(sizeof(Holder) == kCacheLine);
  struct Key {
    std::uint64_t hash = 0;
    std::uint16_t table = 0;
    std::uint16_t group = 0;
    std::size_t size = 0;
    std::array<std::uint64_t, 255> values;  // by FieldIndexes, whose indexes are bytes
  };

  static std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15;
    return hash ^ (hash >> 32);
  }
  static void take_key(const TableUse& use, const std::uint64_t* values, std::uint16_t group,
                       Key& key);
  const std::uint64_t* values_of(const Unit& unit) const {
    return unit.more_values == kNone ? unit.values.data() : values_.at(unit.more_values);
  }
  bool has_key(const Holder& holder, const Key& key) const;
  std::uint32_t find_holder(const Key& key) const;
  std::uint32_t holder_for(const Key& key);
  void grow_buckets();
  void free_holder(std::uint32_t at);
  std::uint32_t new_entry(UnitId id, std::uint32_t holder);
  void leave_chain(Entry& entry, std::uint32_t at, Holder& holder);
  void drop_entry(std::uint32_t entry);
  void free_unit(UnitId id);
  void free_units(UnitId id);  // and those that it was the last to hold

  const Topology& topology_;
  Slab<Unit> units_;
  Slab<Link> links_;
  Slab<Entry> entries_;
  Slab<Holder> holders_;
  std::vector<std::uint32_t> buckets_;   // first Holder; as many as a power of two
  std::vector<std::uint8_t> key_sizes_;  // by table
  Slab<IntervalSet> intervals_;
  RunPool<std::uint64_t> values_;
  RunPool<UnitId> parents_;
  RunPool<Member> members_;
  std::vector<UnitId> dying_;
};

template <typename Fits>
UnitId Store::newest_child(UnitId parent, Fits fits) const {
  // A unit with very many children is cut or shared out; the newest ones are those that repeat.
  int budget = 256;
  const auto is_it = [&](const Link& link) {
    return units_[link.child].serial == link.serial && fits(link.child, link.bytes);
  };
  for (auto at = units_[parent].children; at != kNone && budget-- > 0; at = links_[at].next)
    if (is_it(links_[at])) return links_[at].child;
  const auto& first = units_[parent].first_child;
  return first.child != kNone && budget > 0 && is_it(first) ? first.child : kNone;
}

// Several of these are called for each event.

inline void Store::take_key(const TableUse& use, const std::uint64_t* values, std::uint16_t group,
                            Key& key) {
  key.table = use.table;
  key.group = group;
  key.hash = std::uint64_t{group} << 16 | use.table;
  key.size = use.fields.size();
  const auto* fields = use.fields.data();
  for (std::size_t i = 0; i < key.size; ++i) {
    key.values[i] = values[fields[i]];
    key.hash = mix(key.hash, key.values[i]);
  }
}

inline bool Store::has_key(const Holder& holder, const Key& key) const {
  if (holder.hash != key.hash || holder.table != key.table || holder.group != key.group)
    return false;
  const bool fits = key.size <= kHeld;
  const auto here = fits ? key.size : kHeld - 1;
  for (std::size_t i = 0; i < here; ++i)
    if (holder.values[i] != key.values[i]) return false;
  if (fits) return true;
  const auto* rest = values_.at(static_cast<std::uint32_t>(holder.values[here]));
  return std::equal(key.values.begin() + here, key.values.begin() + key.size, rest);
}

inline std::uint32_t Store::find_holder(const Key& key) const {
  auto at = buckets_[key.hash & (buckets_.size() - 1)];
  while (at != kNone && !has_key(holders_[at], key)) at = holders_[at].next;
  return at;
}

inline Store::Found Store::find(const TableUse& use, const Unit& unit) const {
  Key key;
  take_key(use, values_of(unit), unit.group, key);
  const auto at = find_holder(key);
  if (at == kNone) return {};
  const auto& holder = holders_[at];
  return {holder.open, holder.used == kNone ? kNone : entries_[holder.used].unit};
}

inline void Store::append(AgeList& list, UnitId id, std::uint64_t now_ns) {
  auto& unit = units_[id];
  unit.since_ns = now_ns;
  unit.previous = list.newest;
  unit.next = kNone;
  (list.newest == kNone ? list.oldest : units_[list.newest].next) = id;
  list.newest = id;
}

inline void Store::unlink(AgeList& list, UnitId id) {
  auto& unit = units_[id];
  (unit.previous == kNone ? list.oldest : units_[unit.previous].next) = unit.next;
  (unit.next == kNone ? list.newest : units_[unit.next].previous) = unit.previous;
  unit.previous = unit.next = kNone;
}

}  // namespace sojourn::journeys
