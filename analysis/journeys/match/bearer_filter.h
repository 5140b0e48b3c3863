// Bearers number for themselves, so pieces of two may wait under one number. The unit that they
// make is of the bearer that it names, or whose pieces make it up, or else of that whose piece came
// last. One thread owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "analysis/journeys/match/match.h"
#include "analysis/journeys/match/reassembly.h"
#include "analysis/journeys/topology.h"
#include "analysis/journeys/units/unit_store.h"

namespace sojourn::journeys {

class BearerFilter {
 public:
  BearerFilter(const Topology& topology, const Reassembly& joins);

  // Takes those out of the parents that are of another bearer than the child. `goes_on`: the child
  // is what its thread did right after the last of them, so it is surely of that one's bearer.
  void leave_others(const Unit& child, bool goes_on, Match& into);

 private:
  struct Bearer {
    std::size_t name = 0;
    std::uint64_t value = 0;

    bool operator==(const Bearer&) const = default;
  };

  std::optional<Bearer> bearer_of(const Unit& unit) const;
  bool are_copies(const Match& match) const;
  bool makes_whole(const Match& match, std::uint64_t whole, const Bearer& bearer);

  const Topology& topology_;
  const Reassembly& reassembly_;
  IntervalSet pieces_;
};

}  // namespace sojourn::journeys
