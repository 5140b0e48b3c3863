// Several senders may use the same numbers or HARQ processes without an id that tells them apart.
// Once that shows in a direction, its senders are mixed: each step that only such a number or
// process ties becomes ambiguous, unless all other ids and lengths fit.
//
// A step that may be another sender's is a suspect for a while, so that steps from just before the
// discovery become ambiguous as well. Journeys of suspects are reported later. The delay is
// limited, because usually there is one sender, or all have ids of their own. One thread owns it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "analysis/journeys/match/match.h"
#include "analysis/journeys/topology.h"
#include "analysis/journeys/totals.h"
#include "analysis/journeys/units/unit_store.h"

namespace sojourn::journeys {

class MixedSenders {
 public:
  // Called for each suspect that becomes ambiguous.
  using OnDoubt = void (*)(const Unit& unit);

  MixedSenders(const Topology& topology, UnitStore& store, Totals& totals, OnDoubt doubt)
      : topology_(topology), store_(store), totals_(totals), doubt_(doubt) {}

  bool are_mixed(model::Direction direction) const { return side(direction).mixed; }
  bool are_mixed() const { return sides_[0].mixed || sides_[1].mixed; }
  // There are several senders in the direction.
  void mix(model::Direction direction);
  // A match to a contested parent is unsure. If senders are mixed, an unsure match is ambiguous.
  void judge(const Unit& child, const PointPlan& plan, Match& match);
  // The unit may be another sender's. It is a suspect until then.
  void suspect(Unit& unit, std::uint64_t until_ns);

  void expire(std::uint64_t now_ns) {
    if (suspects_ == 0) return;
    for (auto& side : sides_)
      while (!side.suspects.empty() && side.suspects.front().until_ns < now_ns) acquit_oldest(side);
  }

 private:
  struct Suspect {
    Unit* unit = nullptr;
    std::uint64_t until_ns = 0;
  };
  struct Side {
    bool mixed = false;
    std::uint32_t acquitted = 0;
    std::deque<Suspect> suspects;
  };

  // Units are of these two directions only.
  Side& side(model::Direction direction) { return sides_[static_cast<std::size_t>(direction)]; }
  const Side& side(model::Direction direction) const {
    return sides_[static_cast<std::size_t>(direction)];
  }
  void acquit_oldest(Side& side);

  const Topology& topology_;
  UnitStore& store_;
  Totals& totals_;
  OnDoubt doubt_;
  std::array<Side, 2> sides_;
  std::size_t suspects_ = 0;  // of both directions
};

}  // namespace sojourn::journeys
