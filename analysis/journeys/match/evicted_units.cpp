#include "analysis/journeys/match/evicted_units.h"

#include <algorithm>

namespace sojourn::journeys {
namespace {

// The most units that are remembered, because each keeps the units before it in memory.
constexpr std::size_t kMaxEvicted = 4096;
constexpr std::size_t kMaxPerKey = 16;
// The number of undisputed evictions after which journeys are not held back any more.
constexpr std::uint32_t kEnoughHeld = 64;

}  // namespace

bool EvictedUnits::is_of(const Key& key, const TableUse& use, const Unit& unit) {
  return key.table == use.table && key.group == unit.group &&
         std::ranges::equal(key.values, use.fields, {}, {},
                            [&](std::uint8_t field) { return unit.values[field]; });
}

EvictedUnits::Key* EvictedUnits::find(const TableUse& use, const Unit& unit) {
  const auto at = keys_.find(UnitStore::hash_of(use, unit));
  return at != keys_.end() && is_of(at->second, use, unit) ? &at->second : nullptr;
}

// Returns null if another key has the same hash.
EvictedUnits::Key* EvictedUnits::make(const TableUse& use, const Unit& unit, std::uint64_t hash) {
  auto [at, fresh] = keys_.try_emplace(hash);
  auto& key = at->second;
  if (fresh) {
    key.table = use.table;
    key.group = unit.group;
    for (const auto field : use.fields) key.values.push_back(unit.values[field]);
  }
  return is_of(key, use, unit) ? &key : nullptr;
}

void EvictedUnits::remind(std::uint64_t hash, std::uint64_t serial, std::uint64_t until_ns) {
  due_.push_back({hash, serial, until_ns});
  if (due_.size() > kMaxEvicted) forget_oldest();
}

void EvictedUnits::add(Unit* unit, const TableUse& use, std::uint64_t until_ns) {
  const auto hash = UnitStore::hash_of(use, *unit);
  auto* const key = make(use, *unit, hash);
  if (key == nullptr) return;
  if (key->units.size() == kMaxPerKey) {
    store_.release(key->units.front().unit);
    key->units.erase(key->units.begin());
  }
  store_.retain(unit);
  key->units.push_back({unit, &use, unit->serial});
  remind(hash, unit->serial, until_ns);
}

void EvictedUnits::note_taker(const TableUse& use, Unit* taker, Unit* parent,
                              std::uint64_t until_ns) {
  const auto hash = UnitStore::hash_of(use, *parent);
  auto* const key = make(use, *parent, hash);
  if (key == nullptr) return;
  if (key->takers.size() == kMaxPerKey) forget_taker(*key, key->takers.begin());
  const auto& table = tables_[use.table];
  if (!table.many && table.held < kEnoughHeld) taker->set(kUndecided);
  store_.retain(taker);
  store_.retain(parent);
  key->takers.push_back({taker, parent, taker->serial});
  remind(hash, taker->serial, until_ns);
}

void EvictedUnits::take_back(const TableUse& use, Unit* unit) {
  auto& key = *find(use, *unit);
  const auto one = std::ranges::find(key.units, unit, &One::unit);
  key.units.erase(one);
  store_.release(unit);
}

void EvictedUnits::forget_taker(Key& key, std::vector<Taker>::iterator taker) {
  taker->unit->clear(kUndecided);
  store_.release(taker->unit);
  store_.release(taker->parent);
  key.takers.erase(taker);
}

void EvictedUnits::forget_oldest() {
  const auto due = due_.front();
  due_.pop_front();
  const auto at = keys_.find(due.hash);
  if (at == keys_.end()) return;
  auto& key = at->second;
  const auto one = std::ranges::find(key.units, due.serial, &One::serial);
  if (one != key.units.end()) {
    ++tables_[key.table].held;
    store_.release(one->unit);
    key.units.erase(one);
  }
  const auto taker = std::ranges::find(key.takers, due.serial, &Taker::serial);
  if (taker != key.takers.end()) {
    forget_taker(key, taker);
  }
  if (key.units.empty() && key.takers.empty()) keys_.erase(at);
}

}  // namespace sojourn::journeys
