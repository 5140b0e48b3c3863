#include "analysis/journeys/units/key_table.h"

#include <utility>

namespace sojourn::journeys {
namespace {

constexpr std::size_t kFirstBuckets = 256;
constexpr unsigned kHashBits = 64;
// With this many keys a bucket on average, one bucket in twenty is full.
constexpr std::size_t kMaxKeys = 4;

unsigned shift_for(std::size_t buckets) {
  return kHashBits - static_cast<unsigned>(std::countr_zero(buckets));
}

}  // namespace

KeyTable::KeyTable()
    : buckets_(kFirstBuckets), shift_(shift_for(kFirstBuckets)), most_(kFirstBuckets * kMaxKeys) {}

std::uint32_t KeyTable::make_place_behind(std::size_t full, KeyEntry* entry) {
  for (auto at = full;; at = after(at)) {
    if (const auto free = buckets_[at].with(0)) return take_place(at, free, entry);
    buckets_[at].pass(true);
  }
}

void KeyTable::remove(const KeyEntry& entry) {
  --keys_;
  const auto bucket = entry.place / kPlaces;
  buckets_[bucket].free(entry.place % kPlaces);
  for (auto at = home(entry.hash); at != bucket; at = after(at)) buckets_[at].pass(false);
}

void KeyTable::grow() {
  const auto before = std::exchange(buckets_, std::vector<Bucket>(buckets_.size() * 2));
  shift_ = shift_for(buckets_.size());
  most_ = buckets_.size() * kMaxKeys;
  for (const auto& bucket : before) {
    for (std::size_t place = 0; place < kUsable; ++place) {
      if ((bucket.tags >> (place * kByte) & 0xff) == 0) continue;
      auto* const first = bucket.entries[place];
      const auto now = make_place(first);
      if (first->left != nullptr) first->left->place = now;
      for (auto* entry = first; entry != nullptr; entry = entry->older) entry->place = now;
    }
  }
}

}  // namespace sojourn::journeys
