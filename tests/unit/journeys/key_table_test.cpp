#include "analysis/journeys/units/key_table.h"

#include <cstdint>
#include <deque>
#include <map>
#include <random>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::journeys {
namespace {

// Looks up a key by its hash alone: in these tests each hash has one key.
KeyEntry* find(const KeyTable& keys, std::uint64_t hash) {
  return keys.find(hash, [](const KeyEntry&) { return true; });
}

TEST_CASE("keys come and go in any order, and each is found while it is there") {
  // Hashes of few buckets, so that most keys stand behind full ones; of many; and with few tags.
  for (const auto spread : {0x0000'0000'0f00'0003ULL, 0xff00'0000'ff00'ffffULL, 0xffULL << 56}) {
    std::mt19937_64 random(1);
    KeyTable keys;
    std::deque<KeyEntry> entries;
    std::map<std::uint64_t, KeyEntry*> known;
    for (int turn = 0; turn < 20'000; ++turn) {
      const auto hash = random() & spread;
      const auto there = known.find(hash);
      REQUIRE(find(keys, hash) == (there == known.end() ? nullptr : there->second));
      if (there == known.end()) {
        auto& entry = entries.emplace_back();
        entry.hash = hash;
        keys.add(&entry);
        known.emplace(hash, &entry);
      } else if (turn % 3 == 0) {
        keys.remove(*there->second);
        known.erase(there);
      }
    }
    CHECK_FALSE(known.empty());
    for (const auto& [hash, entry] : known) CHECK(find(keys, hash) == entry);
  }
}

TEST_CASE("a missing key is not found, though keys have passed every bucket") {
  constexpr std::uint64_t kBuckets = 256;  // the number at first
  constexpr std::size_t kPlaces = 7;
  KeyTable keys;
  std::deque<KeyEntry> entries;
  const auto add = [&](std::uint64_t bucket) {
    auto& entry = entries.emplace_back();
    entry.hash = bucket << 56 | entries.size();
    keys.add(&entry);
    return &entry;
  };
  for (std::uint64_t bucket = 0; bucket < kBuckets; ++bucket) {
    // One is there, passed on by the bucket before.
    std::deque<const KeyEntry*> full;
    while (full.size() < kPlaces - (bucket == 0 ? 0 : 1)) full.push_back(add(bucket));
    add(bucket);
    for (const auto* entry : full) keys.remove(*entry);
  }
  for (std::uint64_t bucket = 0; bucket < kBuckets; ++bucket)
    CHECK(find(keys, bucket << 56) == nullptr);
}

TEST_CASE("keys with one hash are found by their other values") {
  KeyTable keys;
  std::deque<KeyEntry> entries(20);
  for (auto& entry : entries) keys.add(&entry);
  for (auto& entry : entries)
    CHECK(keys.find(0, [&](const KeyEntry& other) { return &other == &entry; }) == &entry);
  for (auto& entry : entries) keys.remove(entry);
  CHECK(find(keys, 0) == nullptr);
}

TEST_CASE("a unit that takes a key over takes its place, and all units of the key follow") {
  KeyTable keys;
  KeyEntry left;
  KeyEntry older;
  KeyEntry newest;
  left.hash = older.hash = newest.hash = 7;
  keys.add(&left);
  keys.put(&older, left);
  keys.put(&newest, older);
  newest.older = &older;
  newest.left = &left;
  std::deque<KeyEntry> others(10'000);
  std::uint64_t hash = 0;
  for (auto& other : others) {
    other.hash = hash += 0x9e3779b97f4a7c15;
    keys.add(&other);
  }
  CHECK(find(keys, 7) == &newest);
  for (const auto* entry : {&left, &older, &newest}) CHECK(keys.standing_for(*entry) == &newest);
}

}  // namespace
}  // namespace sojourn::journeys
