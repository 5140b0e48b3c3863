// Which reception a later round goes on with: that which its process had last, as long as that was
// not decoded. Where several senders use a process and nothing says whose it is, their rounds come
// mixed. So what another block displaced before it was decoded is remembered for a while: a round
// that does not go on with the last, but would with that, is a sign of several senders, and many of
// them are a proof. From then on a round goes on with any of those. One thread owns it.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/journeys/match/evicted_units.h"
#include "analysis/journeys/match/match.h"
#include "analysis/journeys/topology.h"
#include "analysis/journeys/units/unit_store.h"

namespace sojourn::journeys {

class HarqReceptions {
 public:
  HarqReceptions(const Topology& topology, UnitStore& store, EvictedUnits& evicted)
      : topology_(topology),
        store_(store),
        evicted_units_(evicted),
        rounds_(topology.points.size()),
        ends_(topology.points.size()) {}

  // What the child, a later round at an input, goes on with; `latest` was its process's last. None:
  // it is of another block, whose rounds before were not seen.
  Unit* before(const Unit& child, const PointPlan& plan, Unit* latest, Match& into);
  // At an input the unit takes the place of `before` in its process, of which nothing says whose it
  // is.
  void replace(Unit* before, const Unit& unit, const PointPlan& plan, std::uint64_t until_ns);

 private:
  // Rounds above 0, by input.
  struct Rounds {
    std::uint64_t go_on = 0;
    std::uint64_t alone = 0;    // after one that had ended, or with nothing to repeat
    std::uint32_t claims = 0;   // of these, that would go on with what was displaced
    PointId most_go_on_at = 0;  // how far most of those came that another round followed

    bool of_decoded_only() const;
  };
  // Receptions that came so far, and that nothing without a round came of.
  struct Ends {
    std::uint64_t all = 0;
    std::uint64_t go_on = 0;
  };
  struct Course {
    bool received = false;  // something came of it that has no rounds: it was decoded, or dropped
    PointId farthest = 0;
  };

  Course course_of(const Unit& unit) const;
  bool is_failed(const Unit& unit, const Rounds& rounds) const;
  bool goes_on(const Unit& earlier, const Unit& child, const PointPlan& plan) const;
  void find_displaced(const Unit& child, const PointPlan& plan);
  void claim(const Unit& child, const PointPlan& plan);
  Unit* choose(Unit* latest, Match& into);

  const Topology& topology_;
  UnitStore& store_;
  EvictedUnits& evicted_units_;
  std::vector<Rounds> rounds_;  // by point
  std::vector<Ends> ends_;      // by point
  std::vector<Unit*> fitting_;  // displaced in the round before the child's, the newest first
};

}  // namespace sojourn::journeys
