// A HARQ process has one unit at a time, so a new unit evicts the old one. This is believed until
// it is seen to be wrong: several senders may use the same process, and no id may tell them apart.
// So evicted units are remembered for a while, and the takers, which are the units that took one of
// several parents of a key. A unit that finds no parent, but could come from an evicted unit,
// disproves the belief. From then on no units are evicted in that table, and all takers become
// ambiguous. One thread owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "analysis/journeys/topology.h"
#include "analysis/journeys/units/unit_store.h"

namespace sojourn::journeys {

class EvictedUnits {
 public:
  struct One {
    Unit* unit = nullptr;
    const TableUse* use = nullptr;
    std::uint64_t serial = 0;
  };
  struct Taker {
    Unit* unit = nullptr;
    Unit* parent = nullptr;  // the one that it took
    std::uint64_t serial = 0;
  };
  // The evicted units and the takers of one key, the newest last.
  struct Key {
    std::uint16_t table = 0;
    std::uint16_t group = 0;
    std::vector<std::uint64_t> values;
    std::vector<One> units;
    std::vector<Taker> takers;  // an evicted unit may be the parent of one of them
  };

  EvictedUnits(const Topology& topology, UnitStore& store)
      : store_(store), tables_(topology.tables) {}

  bool empty() const { return due_.empty(); }
  // Returns whether a new unit of a key evicts the unit before.
  bool evicts(const TableUse& use) const {
    return use.has_one_live_unit() && !tables_[use.table].many;
  }
  bool is_disproved(const TableUse& use) const { return tables_[use.table].many; }

  // Remembers an evicted unit until `until_ns`. If a key has too many, the oldest is forgotten.
  void add(Unit* unit, const TableUse& use, std::uint64_t until_ns);
  // Returns the record of the key that the unit has by this use, or null.
  Key* find(const TableUse& use, const Unit& unit);
  // The taker took one of several units as its parent.
  void note_taker(const TableUse& use, Unit* taker, Unit* parent, std::uint64_t until_ns);
  // An evicted unit was still there. Calls `doubt(unit, key)` for each taker, which may have taken
  // the wrong parent.
  template <typename OnTaker>
  void disprove(const TableUse& use, OnTaker doubt) {
    auto& table = tables_[use.table];
    if (table.many) return;
    table.many = true;
    for (auto& [hash, key] : keys_)
      if (key.table == use.table)
        for (const auto& taker : key.takers) doubt(*taker.unit, key);
  }
  // The unit is not evicted any more.
  void take_back(const TableUse& use, Unit* unit);

  void expire(std::uint64_t now_ns) {
    while (!due_.empty() && due_.front().until_ns < now_ns) forget_oldest();
  }

 private:
  struct Table {
    bool many = false;       // a key has several units at a time
    std::uint32_t held = 0;  // evictions that nothing disproved while they were remembered
  };
  struct Due {
    std::uint64_t hash = 0;
    std::uint64_t serial = 0;
    std::uint64_t until_ns = 0;
  };

  static bool is_of(const Key& key, const TableUse& use, const Unit& unit);
  Key* make(const TableUse& use, const Unit& unit, std::uint64_t hash);
  void remind(std::uint64_t hash, std::uint64_t serial, std::uint64_t until_ns);
  void forget_taker(Key& key, std::vector<Taker>::iterator taker);
  void forget_oldest();

  UnitStore& store_;
  std::vector<Table> tables_;
  std::unordered_map<std::uint64_t, Key> keys_;  // by hash
  std::deque<Due> due_;
};

}  // namespace sojourn::journeys
