// The units in flight, and how children find them. A Unit is one event whose data unit may still be
// matched, or that something in memory refers to. It lives while its count of references is not
// zero. Units come from pools and keep their addresses. Nothing is allocated in the steady state.
//
// A unit that is used again after a while is not in the caches any more. So things that are needed
// together lie together: a unit contains its first parent, child, key and member. Units that will
// be needed soon can be prefetched.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "analysis/journeys/topology.h"
#include "analysis/journeys/units/ambiguity_store.h"
#include "analysis/journeys/units/intervals.h"
#include "analysis/journeys/units/key_table.h"
#include "analysis/journeys/units/pools.h"
#include "analysis/journeys/units/prefetch.h"
#include "analysis/model/event.h"

namespace sojourn::journeys {

struct Unit;
struct OpenJourney;  // a journey that is under way (assemble/input_journeys.h)

enum Flag : std::uint32_t {
  kLeft = 1 << 0,      // it left its place
  kInside = 1 << 1,    // it is counted as being in its place
  kHeadless = 1 << 2,  // its beginning was not seen, and it is not known yet why
  kCut = 1 << 3,       // its beginning was cut off by the capture's start or by a loss
  kOrphan = 1 << 4,    // its beginning was not seen, for no known reason
  kControl = 1 << 5,
  kAmbiguous = 1 << 6,
  kMissing = 1 << 7,       // a segment of it was not seen
  kAgain = 1 << 8,         // it is a repeat that passes through its place once more
  kAwaitsAck = 1 << 9,     // it is kept until it is acknowledged
  kLatestRound = 1 << 10,  // the next repeat of its process would repeat this unit
  kVisited = 1 << 11,      // the walk that is under way was here
  kListed = 1 << 12,       // it is in one of the queues by age
  kUncounted = 1 << 13,    // it entered its place before the open mark, or no observer selects it
  kAtEnd = 1 << 14,        // it was in its place when the capture ended
  kHasExtra = 1 << 15,     // some of its memory is outside of it, and is given back with it
  kRepeats = 1 << 16,      // it has `repeat_of`
  kPassedOver = 1 << 17,   // a segment that ends beyond a unit that others of its number became
  kUndecided = 1 << 18,    // it may show soon that its parent is another unit
  kHasOrigin = 1 << 19,    // its origin is known, or that it has none
  kContested = 1 << 20,    // another unit was taken as a parent where this one fitted as well
  kSuspected = 1 << 21,    // it may be another sender's, if there turn out to be several
  kGoesOn = 1 << 22,       // its reception has a later round
};

// The most HARQ rounds of a block.
inline constexpr int kMaxRounds = 16;

// The part that a journey has in a unit, where journeys are anchored at their input.
struct JourneyMember {
  OpenJourney* journey = nullptr;
  std::uint32_t serial = 0;  // of the journey; members of a closed journey are ignored
  std::uint32_t step = 0;
  Interval bytes;
  bool has_bytes = false;
  bool again = false;
};

// A child, as its parent knows it.
struct Child {
  Unit* unit = nullptr;
  Interval bytes;
};
struct ChildNode {
  Child child;
  ChildNode* next = nullptr;
};
// Parts of a unit that most units do not need.
struct alignas(kCacheLine) UnitExtra {
  [[no_unique_address]] IntervalSet covered;  // bytes that left
  std::uint32_t child_count = 0;
  std::array<Child, 5> children;        // the next ones after the first
  ChildNode* later_children = nullptr;  // the others, the newest first
  Unit* origin = nullptr;               // if kHasOrigin: the unit that was put into the block
};

static_assert(sizeof(UnitExtra) == 2 * kCacheLine);

// A unit is four lines of the cache. A unit that left is not used until it is retired, and then it
// is not in the caches any more. Retiring needs only the first two lines: the units that it refers
// to, and its key. The others are its event, its values, and its parts in journeys.
struct alignas(kCacheLine) Unit {
  std::uint64_t ts_ns = 0;
  std::uint64_t serial = 0;  // the number of its event
  std::uint32_t references = 0;
  std::uint32_t parent_count = 0;
  union {
    Unit* only_parent = nullptr;
    Unit** parents;  // if there are several
  };
  union {
    Unit* first_child = nullptr;
    Unit* next_dying;  // for a unit without references, which has no children any more
  };
  std::uint32_t place = 0;  // in its queue by age
  std::uint32_t member_count = 0;
  std::uint64_t* values = nullptr;  // `own_values`, or a run where there are more
  PointId point = 0;
  std::uint16_t group = 0;  // of processes; units of different groups never meet
  std::uint32_t flags = 0;

  KeyEntry entry;  // its first key; mostly there is no other
  UnitExtra* more = nullptr;

  std::uint64_t entered_ns = 0;  // when its stay in the place began
  std::uint64_t seq = 0;         // the number of its event in the stream
  std::uint32_t tid = 0;
  std::uint32_t stream = 0;
  Unit* repeat_of = nullptr;
  Interval first_child_bytes;
  std::uint16_t depth = 0;  // the longest chain of units before it
  std::array<std::uint64_t, 6> own_values = {};
  union {
    JourneyMember only_member = {};
    JourneyMember* members;  // if there are several
    std::uint32_t order;     // in the walk that is under way, where journeys are found from the end
  };

  bool is(Flag flag) const { return (flags & flag) != 0; }
  bool is_any(unsigned of) const { return (flags & of) != 0; }
  void set(Flag flag) { flags |= flag; }
  void clear(Flag flag) { flags &= ~std::uint32_t{flag}; }
  std::span<Unit* const> all_parents() const {
    return {parent_count > 1 ? parents : &only_parent, parent_count};
  }
  std::span<JourneyMember> all_members() {
    return {member_count > 1 ? members : &only_member, member_count};
  }
  std::span<const JourneyMember> all_members() const {
    return {member_count > 1 ? members : &only_member, member_count};
  }
  bool has_entries() const { return entry.unit != nullptr || entry.next != nullptr; }
  const KeyEntry& newest_entry() const {
    if (entry.next != nullptr) return *entry.next;
    return entry;
  }
};

static_assert(sizeof(Unit) == 4 * kCacheLine);

class UnitStore {
 public:
  explicit UnitStore(const Topology& topology);

  Unit* create(const model::EventView& event, std::uint64_t serial, std::uint16_t group);

  // Sets the parents of the unit, which it keeps in memory.
  void set_parents(Unit* unit, std::span<Unit* const> parents);
  // Drops the references to parents.
  void leave_parents(Unit* unit) {
    if (unit->parent_count > 1) {
      leave_many_parents(unit);
    } else if (unit->parent_count == 1) {
      unit->parent_count = 0;
      release(unit->only_parent);
    }
  }
  // Drops the references to children.
  void leave_children(Unit* unit) {
    if (unit->first_child == nullptr) return;
    release(std::exchange(unit->first_child, nullptr));
    if (unit->more != nullptr) [[unlikely]]
      leave_other_children(*unit->more);
  }
  void set_repeat(Unit* unit, Unit* earlier);
  // Sets the unit that was put into the block; none: no known unit was. The parents of the unit
  // keep the origin in memory.
  void set_origin(Unit* unit, Unit* origin) {
    more(*unit).origin = origin;
    unit->set(kHasOrigin);
  }
  // The parent keeps the child in memory until leave_children().
  void add_child(Unit* parent, Unit* child, Interval bytes);
  // The newest child for which `fits(child, bytes)` is true.
  template <typename Fits>
  Unit* newest_child(const Unit* parent, Fits fits) const;

  // The result of a look-up: the entry of the newest unit that waits, and the unit that left last.
  struct Found {
    KeyEntry* open = nullptr;
    Unit* used = nullptr;
  };
  Found find(const TableUse& use, const Unit& unit) const;

  static std::uint64_t hash_of(const TableUse& use, const Unit& unit);
  // Fetches the place of a key that will be looked up soon, and returns its hash.
  std::uint64_t prefetch_key(const TableUse& use, const Unit& unit) const {
    const auto hash = hash_of(use, unit);
    keys_.prefetch(hash);
    return hash;
  }
  // Adds a unit under a key. The use must keep its address. Returns the unit that had left under
  // the same key, if there is one; it is not found by this key any more.
  Unit* insert(Unit* unit, const TableUse& use, std::uint64_t hash);
  // Makes it the only unit of its key. Returns the one before, or none.
  Unit* replace(Unit* unit, const TableUse& use);
  // The unit left: under each of its keys it takes the place of the unit that left before, for
  // which `evict(unit)` is called.
  template <typename Evict>
  void mark_used(Unit* unit, Evict evict);
  // Removes the unit from all its keys.
  void remove(Unit* unit) {
    if (unit->entry.next != nullptr) remove_others(unit);
    if (unit->entry.unit == nullptr) return;
    leave_key(unit->entry);
    unit->entry.unit = nullptr;
  }

  void retain(Unit* unit) { ++unit->references; }
  void release(Unit* unit) {
    if (--unit->references == 0) free_units(unit);
  }

  // Fetches the lines of a released unit whose memory will soon be used for another unit. The first
  // line is in the caches.
  static void prefetch_spare(const Unit* unit) {
    prefetch_for_write(&unit->entry);
    prefetch_for_write(&unit->entered_ns);
    prefetch_for_write(&unit->only_member);
  }
  // Fetches a unit that will be released soon, and reported as a step if `to_tell`.
  static void prefetch(const Unit* unit, bool to_tell) {
    prefetch_line(&unit->ts_ns);
    if (to_tell) prefetch_line(&unit->entered_ns);
  }
  // Fetches a unit that will be removed soon.
  static void prefetch_keys(const Unit* unit) {
    prefetch_line(&unit->ts_ns);
    prefetch_line(&unit->entry);
  }
  // Fetches the place of its key, its extra part, its parent and its child. The unit itself was
  // fetched.
  void prefetch_place(const Unit* unit) const {
    keys_.prefetch(unit->entry);
    if (unit->more != nullptr) prefetch_all(*unit->more);
    prefetch_line(unit->only_parent);
    prefetch_line(unit->first_child);
  }

  // Fetches its children, which it will leave soon. The extra part was fetched.
  static void prefetch_children(const Unit* unit) {
    if (unit->more == nullptr) return;
    for (std::uint32_t at = 0; at < unit->more->child_count; ++at)
      prefetch_line(unit->more->children[at].unit);
  }

  // The bytes of it that left.
  IntervalSet& covered(Unit& unit) { return more(unit).covered; }
  std::span<JourneyMember> make_members(Unit* unit, std::size_t count);

  // The memory in use, counted in units. Members of shared units and steps of long journeys are
  // counted as units of the same size, since they grow by the product of packets and events.
  std::size_t in_memory() const { return units_.used() + parts_ / kPartsInUnit; }
  void add_parts(std::size_t count) { parts_ += count; }
  void drop_parts(std::size_t count) { parts_ -= count; }
  AmbiguityStore& ambiguities() { return ambiguities_; }

 private:
  // Returns the head entry of the key: the newest that waits, or else the one that left.
  KeyEntry* find_key(std::uint64_t hash, const TableUse& use, const Unit& unit) const;
  KeyEntry* new_entry(Unit* unit, std::uint64_t hash, const TableUse& use);
  KeyEntry* add_entry_behind(Unit& unit);
  Unit* insert_before(KeyEntry& first, Unit* unit, const TableUse& use);
  void leave_key(const KeyEntry& entry);
  KeyEntry* take_from_waiting(KeyEntry& entry);
  Unit* forget_left(KeyEntry* entry);
  void remove_others(Unit* unit);
  UnitExtra& more(Unit& unit) { return unit.more != nullptr ? *unit.more : make_extra(unit); }
  UnitExtra& make_extra(Unit& unit);
  void leave_many_parents(Unit* unit);
  void leave_other_children(UnitExtra& more);
  std::uint64_t* take_values(Unit& unit, std::size_t count);
  static void copy_values(std::span<const std::uint64_t> from, std::uint64_t* to);
  void give_back_extra(Unit* unit);
  void free_unit(Unit* unit);
  void free_units(Unit* unit);  // and the units that only it referred to
  void let_go(Unit* unit) {
    if (--unit->references != 0) return;
    unit->next_dying = dying_;
    dying_ = unit;
  }

  static constexpr std::size_t kPartsInUnit = 4;

  const Topology& topology_;
  Slab<Unit> units_;
  Slab<ChildNode> links_;
  Slab<KeyEntry> entries_;
  KeyTable keys_;
  Slab<UnitExtra> more_;
  RunPool<std::uint64_t> values_;
  RunPool<Unit*> parents_;
  RunPool<JourneyMember> members_;
  std::size_t parts_ = 0;  // members of shared units and steps of long journeys
  Unit* dying_ = nullptr;  // the first unit without references that is not freed yet
  AmbiguityStore ambiguities_;
};

template <typename Fits>
Unit* UnitStore::newest_child(const Unit* parent, Fits fits) const {
  // A unit with very many children has repeats among its newest ones, so only those are searched.
  int budget = 256;
  const auto is_it = [&](const Child& child) { return fits(child.unit, child.bytes); };
  if (const auto* const more = parent->more) {
    for (const auto* link = more->later_children; link != nullptr && budget-- > 0;
         link = link->next)
      if (is_it(link->child)) return link->child.unit;
    for (auto at = more->child_count; at-- > 0 && budget-- > 0;)
      if (is_it(more->children[at])) return more->children[at].unit;
  }
  const Child first = {parent->first_child, parent->first_child_bytes};
  return first.unit != nullptr && budget > 0 && is_it(first) ? first.unit : nullptr;
}

template <typename Evict>
void UnitStore::mark_used(Unit* unit, Evict evict) {
  const auto mark = [&](KeyEntry& entry) {
    if (entry.state != KeyEntry::State::kWaits) [[unlikely]]
      return;
    auto* const left = take_from_waiting(entry);
    entry.state = KeyEntry::State::kLeft;
    entry.newest = true;
    entry.older = entry.left = nullptr;
    if (left != nullptr) [[unlikely]]
      evict(forget_left(left));
  };
  if (unit->entry.next != nullptr) [[unlikely]]
    for (auto* entry = unit->entry.next; entry != nullptr; entry = entry->next) mark(*entry);
  if (unit->entry.unit != nullptr) mark(unit->entry);
}

// Several of the following are called for each event.

// The upper bits depend on all bits of the key.
inline std::uint64_t UnitStore::hash_of(const TableUse& use, const Unit& unit) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  // Ids are mostly small, so these bits are free.
  auto hash = std::uint64_t{unit.group} << 48 | std::uint64_t{use.table} << 32;
  for (const auto field : use.fields) hash = (hash ^ unit.values[field]) * kOdd;
  return hash;
}

// Compares the key with a unit of the entry.
inline KeyEntry* UnitStore::find_key(std::uint64_t hash, const TableUse& use,
                                     const Unit& unit) const {
  return keys_.find(hash, [&](const KeyEntry& entry) {
    if (entry.use->table != use.table || entry.unit->group != unit.group) [[unlikely]]
      return false;
    const auto* theirs = entry.use->fields.begin();
    for (const auto field : use.fields)
      if (unit.values[field] != entry.unit->values[*theirs++]) return false;
    return true;
  });
}

// Inlined, as a call would take as long as comparing the two or three fields of a key.
[[gnu::always_inline]] inline UnitStore::Found UnitStore::find(const TableUse& use,
                                                               const Unit& unit) const {
  auto* const first = find_key(hash_of(use, unit), use, unit);
  if (first == nullptr) return {};
  if (first->state == KeyEntry::State::kLeft) return {nullptr, first->unit};
  if (first->left == nullptr) [[likely]]
    return {first, nullptr};
  return {first, first->left->unit};
}

// Values are mostly few: copying some of them twice is faster than a loop or a call.
inline void UnitStore::copy_values(std::span<const std::uint64_t> from, std::uint64_t* to) {
  constexpr std::size_t kTwo = 2;
  const auto copy_two = [&](std::size_t at) {
    std::memcpy(to + at, from.data() + at, kTwo * sizeof(*to));
  };
  const auto count = from.size();
  if (count < kTwo) {
    if (count != 0) *to = from.front();
    return;
  }
  copy_two(0);
  for (auto at = kTwo; at + kTwo < count; at += kTwo) copy_two(at);
  copy_two(count - kTwo);
}

[[gnu::always_inline]] inline Unit* UnitStore::create(const model::EventView& event,
                                                      std::uint64_t serial, std::uint16_t group) {
  auto* const unit = units_.take();
  unit->ts_ns = unit->entered_ns = event.ts_ns;
  unit->serial = serial;
  unit->seq = event.seq;
  unit->references = 0;
  unit->tid = event.tid;
  unit->stream = event.stream;
  unit->point = event.point;
  unit->group = group;
  unit->flags = 0;
  unit->depth = 0;
  unit->parent_count = unit->member_count = 0;
  unit->repeat_of = nullptr;
  unit->more = nullptr;
  unit->first_child = nullptr;
  const auto count = event.values.size();
  auto* values = unit->own_values.data();
  if (count > unit->own_values.size()) values = take_values(*unit, count);
  copy_values(event.values, values);
  unit->values = values;
  return unit;
}

inline void UnitStore::set_parents(Unit* unit, std::span<Unit* const> parents) {
  unit->parent_count = static_cast<std::uint32_t>(parents.size());
  auto** mine = &unit->only_parent;
  if (parents.size() > 1) {
    mine = unit->parents = parents_.take(parents.size());
    unit->set(kHasExtra);
  }
  auto depth = unit->depth;
  for (auto* const parent : parents) {
    *mine++ = parent;
    retain(parent);
    depth = std::max(depth, static_cast<std::uint16_t>(parent->depth + 1));
  }
  unit->depth = depth;
}

inline void UnitStore::add_child(Unit* parent, Unit* child, Interval bytes) {
  retain(child);
  if (parent->first_child == nullptr) [[likely]] {
    parent->first_child = child;
    parent->first_child_bytes = bytes;
    return;
  }
  auto& others = more(*parent);
  if (others.child_count < others.children.size()) {
    others.children[others.child_count++] = {child, bytes};
    return;
  }
  auto* const link = links_.take();
  *link = {{child, bytes}, others.later_children};
  others.later_children = link;
}

// The caller fills in the members.
inline std::span<JourneyMember> UnitStore::make_members(Unit* unit, std::size_t count) {
  unit->member_count = static_cast<std::uint32_t>(count);
  if (count > 1) {
    unit->members = members_.take(count);
    unit->set(kHasExtra);
    add_parts(count);
  }
  return unit->all_members();
}

// Removes the entry from its key. If it was the head, the next entry becomes the head.
inline void UnitStore::leave_key(const KeyEntry& entry) {
  if (entry.state == KeyEntry::State::kLeft) [[likely]] {
    auto* const first = keys_.standing_for(entry);
    if (first == &entry) [[likely]]
      keys_.remove(entry);
    else
      first->left = nullptr;
    return;
  }
  if (!entry.newest) {
    entry.newer->older = entry.older;
    if (entry.older != nullptr) entry.older->newer = entry.newer;
  } else if (entry.older != nullptr) {
    entry.older->newest = true;
    entry.older->left = entry.left;
    keys_.put(entry.older, entry);
  } else if (entry.left != nullptr) {
    keys_.put(entry.left, entry);
  } else {
    keys_.remove(entry);
  }
}

}  // namespace sojourn::journeys
