// Several senders may use the same numbers and processes, and nothing say whose a unit is. That
// shows somewhere: then each step is in doubt that only such a number or process ties, unless all
// that is known of it fits. Steps are told of late until then, so that what came before it showed
// is in doubt as well: at most so many, as mostly there is one sender, or all are named. Directions
// have nothing to do with each other. One thread owns it.
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
  // Is told of each unit that turns out to be ambiguous.
  using OnDoubt = void (*)(const Unit& unit);

  MixedSenders(const Topology& topology, UnitStore& store, Totals& totals, OnDoubt doubt)
      : topology_(topology), store_(store), totals_(totals), doubt_(doubt) {}

  bool are_mixed(model::Direction direction) const { return side(direction).mixed; }
  bool are_mixed() const { return sides_[0].mixed || sides_[1].mixed; }
  // It showed that there are several.
  void mix(model::Direction direction);
  // What another one might have taken with as much right is in doubt, and, where there are several,
  // all that is not sure then.
  void judge(const Unit& child, const PointPlan& plan, Match& match);
  // It may be another sender's.
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

  // Only those of the two directions carry units.
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
  std::size_t suspects_ = 0;  // of both
};

}  // namespace sojourn::journeys
