// Finds units by their keys. Each key has its waiting units, the newest first, and the unit that
// left last. The table holds only the newest unit of a key, as its head.
//
// A bucket is one line of the cache. It has a byte of the hash beside each place, which nearly
// always identifies the right place without a look at the unit. So most look-ups read one line,
// whether they find something or not. An entry knows its place, which changes only when the table
// grows. One thread owns a KeyTable.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/journeys/topology.h"
#include "analysis/journeys/units/prefetch.h"

namespace sojourn::journeys {

struct Unit;

// A unit under one of its keys.
struct KeyEntry {
  enum class State : std::uint8_t { kWaits, kLeft };

  std::uint64_t hash = 0;     // of its key
  Unit* unit = nullptr;       // null: not in use
  KeyEntry* older = nullptr;  // the next older one that waits
  union {
    KeyEntry* left = nullptr;  // for the newest waiting entry: the entry of the key that left last
    KeyEntry* newer;           // for the other waiting entries: the next newer one
  };
  KeyEntry* next = nullptr;  // the same unit under another key
  const TableUse* use = nullptr;
  std::uint32_t place = 0;
  State state = State::kWaits;
  bool newest = true;
};

class KeyTable {
 public:
  KeyTable();

  void prefetch(std::uint64_t hash) const { prefetch_line(&buckets_[home(hash)]); }
  void prefetch(const KeyEntry& entry) const { prefetch_line(&buckets_[entry.place / kPlaces]); }

  // Returns the head entry of the key, or null if no unit has it. `is_it(entry)` is asked of
  // entries with the same hash.
  template <typename IsIt>
  KeyEntry* find(std::uint64_t hash, IsIt is_it) const {
    const auto first = home(hash);
    for (auto at = first;;) {
      const auto& bucket = buckets_[at];
      for (auto fits = bucket.with(tag(hash)); fits != 0; fits &= fits - 1) {
        auto* const entry = bucket.entries[place_of(fits)];
        if (entry->hash != hash) continue;
        if (is_it(*entry)) [[likely]]
          return entry;
      }
      if (bucket.passed() == 0) [[likely]]
        return nullptr;
      at = after(at);
      if (at == first) return nullptr;  // all buckets were passed
    }
  }

  // Adds a key that no entry has.
  void add(KeyEntry* entry) {
    if (++keys_ > most_) grow();
    entry->place = make_place(entry);
  }
  // Makes the entry the head of its key, in the place of `before`.
  void put(KeyEntry* entry, const KeyEntry& before) {
    entry->place = before.place;
    at(entry->place) = entry;
  }
  KeyEntry* standing_for(const KeyEntry& entry) const {
    return buckets_[entry.place / kPlaces].entries[entry.place % kPlaces];
  }
  // Removes the key, which no entry has any more.
  void remove(const KeyEntry& entry);

 private:
  // A bucket has seven places. The last byte of its tags counts the keys that found no place here
  // and went on to the next bucket.
  static constexpr std::size_t kPlaces = 8;
  static constexpr std::size_t kUsable = kPlaces - 1;
  static constexpr unsigned kByte = 8;
  static constexpr std::uint64_t kEach = 0x0001010101010101;
  static constexpr std::uint64_t kTop = 0x0080808080808080;
  static constexpr std::uint64_t kMaxPassed = 255;  // the count stays there for ever

  struct alignas(kCacheLine) Bucket {
    std::uint64_t tags = 0;  // a tag of 0: the place is free
    std::array<KeyEntry*, kUsable> entries = {};

    // The top bits of the bytes that may be equal to the tag. The lowest of them surely is.
    std::uint64_t with(std::uint64_t tag) const {
      const auto others = tags ^ tag * kEach;
      return (others - kEach) & ~others & kTop;
    }
    std::uint64_t passed() const { return tags >> (kUsable * kByte); }
    void fill(std::size_t place, std::uint64_t tag) { tags |= tag << (place * kByte); }
    void free(std::size_t place) { tags &= ~(std::uint64_t{0xff} << (place * kByte)); }
    void pass(bool one_more) {
      if (passed() == kMaxPassed) return;
      const auto one = std::uint64_t{1} << (kUsable * kByte);
      tags = one_more ? tags + one : tags - one;
    }
  };

  static std::size_t place_of(std::uint64_t fits) {
    return static_cast<std::size_t>(std::countr_zero(fits)) / kByte;
  }
  // A tag has bits of the hash that did not choose the bucket. It is neither 0 nor 1: with() may
  // confuse tags that differ in the last bit only, and no tag may be confused with a free place.
  static std::uint64_t tag(std::uint64_t hash) { return (hash >> 24 & 0xff) | 2; }
  // The upper bits of a hash depend on all bits of the key.
  std::size_t home(std::uint64_t hash) const { return hash >> shift_; }
  std::size_t after(std::size_t bucket) const { return (bucket + 1) & (buckets_.size() - 1); }
  KeyEntry*& at(std::uint32_t place) { return buckets_[place / kPlaces].entries[place % kPlaces]; }
  std::uint32_t make_place(KeyEntry* entry) {
    const auto at = home(entry->hash);
    const auto free = buckets_[at].with(0);
    if (free == 0) [[unlikely]]
      return make_place_behind(at, entry);
    return take_place(at, free, entry);
  }
  std::uint32_t make_place_behind(std::size_t full, KeyEntry* entry);
  std::uint32_t take_place(std::size_t at, std::uint64_t free, KeyEntry* entry) {
    auto& bucket = buckets_[at];
    const auto place = place_of(free);
    bucket.fill(place, tag(entry->hash));
    bucket.entries[place] = entry;
    return static_cast<std::uint32_t>(at * kPlaces + place);
  }
  void grow();

  std::vector<Bucket> buckets_;  // their number is a power of two
  unsigned shift_;
  std::size_t keys_ = 0;
  std::size_t most_;  // the table grows beyond so many
};

}  // namespace sojourn::journeys
