// Finds the SDU of a segment where SDUs get their sequence numbers as they are cut, and only the
// segments say them (sequence_number_queue.h). One thread owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "analysis/journeys/match/sequence_number_queue.h"
#include "analysis/journeys/topology.h"
#include "analysis/journeys/units/unit_store.h"

namespace sojourn::journeys {

class SequenceNumbering {
 public:
  struct Found {
    Unit* whole = nullptr;  // null: the SDU was not seen, or is gone
    bool is_sure = false;
  };

  // The SDU begins to wait for a number. SDUs with one key are in one queue.
  void add(Unit& whole, const PointPlan& plan);
  // `finally`: an SDU that was not seen will not come any more.
  Found find(const Unit& piece, const PointPlan& plan, bool finally);
  // Events were lost, so no assignment is certain any more.
  void doubt() { ++losses_; }
  std::size_t lines() const { return lines_.size(); }

 private:
  // The memory of the unit may be another unit's by now, which the serial shows.
  struct Waiting {
    Unit* unit = nullptr;
    std::uint64_t serial = 0;

    bool is_there() const { return unit->serial == serial && unit->is(kListed); }
  };
  struct Line {
    SequenceNumberQueue numbers{0};
    std::deque<Waiting> units;  // its SDUs
    std::uint64_t losses = 0;
  };
  struct HashOfKey {
    std::size_t operator()(const std::vector<std::uint64_t>& key) const;
  };

  Line& line_of(const Unit& unit, const TableUse& use);
  static void forget_gone(Line& line);
  void make_room(std::uint64_t now_ns);

  std::unordered_map<std::vector<std::uint64_t>, Line, HashOfKey> lines_;
  std::vector<std::uint64_t> key_;
  std::size_t max_lines_ = 1024;  // beyond so many, lines of UEs that are gone are removed
  std::uint64_t losses_ = 0;
  std::uint64_t began_ns_ = 0;
};

}  // namespace sojourn::journeys
