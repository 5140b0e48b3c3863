// Chooses the segments of a reassembled unit: among all that wait under its number, those that make
// up its bytes. The others belong to an earlier unit of the number or to another sender, or were
// sent again although all their bytes had come. One thread owns it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/journeys/match/match.h"
#include "analysis/journeys/match/tiling.h"
#include "analysis/journeys/topology.h"
#include "analysis/journeys/units/unit_store.h"

namespace sojourn::journeys {

class Reassembly {
 public:
  // `lengths_differ`: by pair, whether its offsets and lengths do not fit together.
  Reassembly(const Topology& topology, std::vector<bool>& lengths_differ);

  // Keeps only the parents that are segments of the child, and notes where some are missing.
  void check(const Unit& child, Match& into, bool finally);
  // Returns whether segments of several senders were found to have one number.
  bool mixes_senders(std::uint32_t pair) const { return gatherings_[pair].mixed; }
  // Returns whether the lengths of the parents, which have no offsets, add up to that of the child.
  bool adds_up(const Unit& child, const Match& match) const;
  // The bytes that the parent has of a unit of this length; nothing if they are beyond it.
  std::optional<Interval> piece_of(const Unit& parent, std::uint64_t whole) const;

 private:
  // The time from the first segment of a unit to the last one that it needs.
  struct Gathering {
    std::uint64_t units = 0;
    std::uint64_t longest_ns = 0;
    bool mixed = false;  // segments of several senders have one number at a time
  };

  void check_dropped(std::uint64_t whole, Match& into);
  bool leave_strangers(std::uint32_t pair, std::uint64_t whole, Match& into);
  bool leave_other_senders(std::uint32_t pair, std::uint64_t whole, Match& into);
  std::uint64_t same_unit_ns(std::uint32_t pair) const;

  const Topology& topology_;
  std::vector<bool>& lengths_differ_;
  std::vector<Gathering> gatherings_;        // by pair
  std::vector<std::uint32_t> joined_whole_;  // by pair, units whose segments were complete
  std::vector<std::uint32_t> joined_short_;  // by pair, units whose segments were not
  IntervalSet pieces_;
  std::vector<const Unit*> needed_;
  std::vector<std::optional<Interval>> intervals_;
  Tiling tiling_;
};

}  // namespace sojourn::journeys
