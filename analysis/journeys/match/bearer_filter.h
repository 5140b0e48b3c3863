// Each bearer numbers its own units, so segments of two bearers may wait under one number. The
// reassembled unit belongs to the bearer that it names. If it names none, it belongs to the bearer
// whose segments make it whole, else to the bearer of the segment that came last. One thread owns
// it.
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

  // Removes the parents that belong to another bearer than the child. `goes_on`: its thread did the
  // child right after the last parent, so the child surely belongs to the bearer of that.
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
