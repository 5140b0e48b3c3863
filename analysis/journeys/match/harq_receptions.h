// Finds the reception that a later HARQ round continues: the latest one of its process, as long as
// that was not decoded. Where several senders use a process and no id tells them apart, their
// rounds are mixed. So a reception that another block displaced before it was decoded is remembered
// for a while. A round that does not continue the latest reception, but would continue a displaced
// one, is a claim, a sign of several senders. Several claims are taken as a proof. From then on a
// round may continue any of these receptions. One thread owns it.
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

  // Returns the unit that the child repeats; the child is a later round at an input. `latest` is
  // the latest unit of its process. Null: the child belongs to another block, whose earlier rounds
  // were not seen.
  Unit* before(const Unit& child, const PointPlan& plan, Unit* latest, Match& into);
  // The unit displaces `before` in its process at an input, and no id says which sender the process
  // belongs to.
  void replace(Unit* before, const Unit& unit, const PointPlan& plan, std::uint64_t until_ns);

 private:
  // The rounds above 0 of an input.
  struct Rounds {
    std::uint64_t go_on = 0;   // rounds that continue the latest reception
    std::uint64_t alone = 0;   // rounds after a reception that had ended, or with nothing to repeat
    std::uint32_t claims = 0;  // rounds alone that would continue a displaced reception
    PointId most_go_on_at = 0;  // the farthest point of most receptions that a round followed

    bool of_decoded_only() const;
  };
  // Receptions that ended at a point: no unit without a round followed them.
  struct Ends {
    std::uint64_t all = 0;
    std::uint64_t go_on = 0;
  };
  struct Course {
    bool received = false;  // a unit without rounds followed: the block was decoded, or dropped
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
  // Displaced units of the round before the child's, the newest first.
  std::vector<Unit*> fitting_;
};

}  // namespace sojourn::journeys
