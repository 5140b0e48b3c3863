// Units that get a number only as they are cut, which their pieces say (sequence_number_queue.h):
// finds what a piece is of. One thread owns it.
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
    Unit* whole = nullptr;  // none: it was not seen, or is gone
    bool is_sure = false;
  };

  // It begins to wait. Those of a key are in one line.
  void add(Unit& whole, const PointPlan& plan);
  // `finally`: what it is of will not come any more.
  Found find(const Unit& piece, const PointPlan& plan, bool finally);
  // Events were lost.
  void doubt() { ++losses_; }
  std::size_t lines() const { return lines_.size(); }

 private:
  // Its memory may be another unit's by now.
  struct Waiting {
    Unit* unit = nullptr;
    std::uint64_t serial = 0;

    bool is_there() const { return unit->serial == serial && unit->is(kListed); }
  };
  struct Line {
    SequenceNumberQueue numbers{0};
    std::deque<Waiting> units;  // its wholes
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
  std::size_t max_lines_ = 1024;  // before those of UEs that are gone are forgotten
  std::uint64_t losses_ = 0;
  std::uint64_t began_ns_ = 0;
};

}  // namespace sojourn::journeys
