// A HARQ process has one unit at a time: a new one says that the old one is gone. That is taken to
// be so until it is seen to be wrong, as where several senders use the same one and nothing says
// which is which. So who was evicted is remembered for a while, and who took what came
// instead. A unit that finds nothing, but could have come from one that was evicted, disproves it:
// from then on nothing is evicted there, and all who took something meanwhile are in doubt. One
// thread owns it.
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
    Unit* parent = nullptr;  // that it took
    std::uint64_t serial = 0;
  };
  // What became of one key, the newest last.
  struct Key {
    std::uint16_t table = 0;
    std::uint16_t group = 0;
    std::vector<std::uint64_t> values;
    std::vector<One> units;
    std::vector<Taker> takers;  // of others, while those or still others might have been meant
  };

  EvictedUnits(const Topology& topology, UnitStore& store)
      : store_(store), tables_(topology.tables) {}

  bool empty() const { return due_.empty(); }
  // Whether a new unit of a key evicts the one before.
  bool evicts(const TableUse& use) const {
    return use.one_live_unit_per_key && !tables_[use.table].many;
  }
  bool is_disproved(const TableUse& use) const { return tables_[use.table].many; }

  // At least until then. Of a key the oldest gives way where they are many.
  void add(Unit* unit, const TableUse& use, std::uint64_t until_ns);
  // What is known of the key by which this unit looks, or is found; none: nothing.
  Key* find(const TableUse& use, const Unit& unit);
  // It took one of several.
  void note_taker(const TableUse& use, Unit* taker, Unit* parent, std::uint64_t until_ns);
  // One of them was found to be there still. For each who took another one instead, and may have
  // been wrong: `doubt(taker, key)`.
  template <typename AmbiguityReason>
  void disprove(const TableUse& use, AmbiguityReason doubt) {
    auto& table = tables_[use.table];
    if (table.many) return;
    table.many = true;
    for (auto& [hash, key] : keys_)
      if (key.table == use.table)
        for (const auto& taker : key.takers) doubt(*taker.unit, key);
  }
  // It is not among them any more.
  void take_back(const TableUse& use, Unit* unit);

  void expire(std::uint64_t now_ns) {
    while (!due_.empty() && due_.front().until_ns < now_ns) forget_oldest();
  }

 private:
  struct Table {
    bool many = false;       // units of a key at a time
    std::uint32_t held = 0;  // so many evictions that nothing spoke against
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
