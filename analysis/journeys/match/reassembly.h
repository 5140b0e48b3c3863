// What a unit that was put together is made of: of the pieces that wait under its number, those
// that make up its bytes. Others are left: of an earlier unit of the number, of another sender's,
// or sent again although all their bytes had come. One thread owns it.
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
  // `lengths_differ`: by pair, whether units gave lengths that do not fit their offsets.
  Reassembly(const Topology& topology, std::vector<bool>& lengths_differ);

  // Leaves those parents that are pieces of the child, and notes where some are missing.
  void check(const Unit& child, Match& into, bool finally);
  // Whether pieces of several were found to have one number.
  bool mixes_senders(std::uint32_t pair) const { return gatherings_[pair].mixed; }
  // Whether pieces that do not say where they begin are as long as the child is.
  bool adds_up(const Unit& child, const Match& match) const;
  // The bytes of a unit of which the parent is a piece.
  std::optional<Interval> piece_of(const Unit& parent, std::uint64_t whole) const;

 private:
  // From the first piece of a unit to the last that it needs.
  struct Gathering {
    std::uint64_t units = 0;
    std::uint64_t longest_ns = 0;
    bool mixed = false;  // pieces of several senders have one number at a time
  };

  void check_dropped(std::uint64_t whole, Match& into);
  bool leave_strangers(std::uint32_t pair, std::uint64_t whole, Match& into);
  bool leave_other_senders(std::uint32_t pair, std::uint64_t whole, Match& into);
  std::uint64_t same_unit_ns(std::uint32_t pair) const;

  const Topology& topology_;
  std::vector<bool>& lengths_differ_;
  std::vector<Gathering> gatherings_;        // by pair
  std::vector<std::uint32_t> joined_whole_;  // by pair: pieces made up the child's length exactly
  std::vector<std::uint32_t> joined_short_;  // they came short of it
  IntervalSet pieces_;
  std::vector<const Unit*> needed_;
  std::vector<std::optional<Interval>> intervals_;
  Tiling tiling_;
};

}  // namespace sojourn::journeys
