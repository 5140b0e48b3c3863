// Under which keys units are found. A key has those of its units that wait, the newest first, and
// the one that left last; the newest stands in the table for all of them. Buckets are lines of the
// cache: a byte of the hash beside each place tells nearly always without a look at a unit which
// one it is, and nothing ever moves from one place to another but when the table grows. So an entry
// knows where it stands, and what is looked for is found or missed in one line. One thread owns it.
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

  std::uint64_t hash = 0;     // of the key
  Unit* unit = nullptr;       // none: not in use
  KeyEntry* older = nullptr;  // of those that wait
  union {
    KeyEntry* left = nullptr;  // the newest of those that wait knows which one left last,
    KeyEntry* newer;           // the others who came after them
  };
  KeyEntry* next = nullptr;  // of the same unit, under another key
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

  // Who stands for the key; `is_it(entry)` tells of one that has its hash. None: nobody has it.
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
      if (at == first) return nullptr;  // all are passed, or nobody counts any more
    }
  }

  // A key that nobody had so far.
  void add(KeyEntry* entry) {
    if (++keys_ > most_) grow();
    entry->place = make_place(entry);
  }
  // The entry stands for its key instead of `before`, whose place it takes.
  void put(KeyEntry* entry, const KeyEntry& before) {
    entry->place = before.place;
    at(entry->place) = entry;
  }
  KeyEntry* standing_for(const KeyEntry& entry) const {
    return buckets_[entry.place / kPlaces].entries[entry.place % kPlaces];
  }
  // Nobody has the key any more.
  void remove(const KeyEntry& entry);

 private:
  // Of a bucket: seven, and the last byte of the tags counts the keys that found no place here and
  // went on.
  static constexpr std::size_t kPlaces = 8;
  static constexpr std::size_t kUsable = kPlaces - 1;
  static constexpr unsigned kByte = 8;
  static constexpr std::uint64_t kEach = 0x0001010101010101;
  static constexpr std::uint64_t kTop = 0x0080808080808080;
  static constexpr std::uint64_t kMaxPassed = 255;  // from here on nobody counts

  struct alignas(kCacheLine) Bucket {
    std::uint64_t tags = 0;  // 0: free
    std::array<KeyEntry*, kUsable> entries = {};

    // The top bit of each byte that may be the tag; the lowest of them surely is.
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
  // Bits that have not chosen the bucket. Neither 0 nor 1: with() may take the one that differs
  // from a tag in its last bit only for it, and that is not to be a free place.
  static std::uint64_t tag(std::uint64_t hash) { return (hash >> 24 & 0xff) | 2; }
  // The upper bits are those that all others have gone into.
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

  std::vector<Bucket> buckets_;  // as many as a power of two
  unsigned shift_;
  std::size_t keys_ = 0;
  std::size_t most_;  // before it grows
};

}  // namespace sojourn::journeys
