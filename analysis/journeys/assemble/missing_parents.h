// Units whose beginning or segment was not seen. The reason is decided a little later, when the
// losses around them are known. One thread owns it.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "analysis/journeys/assemble/loop_inputs.h"
#include "analysis/journeys/match/losses.h"
#include "analysis/journeys/max_span.h"
#include "analysis/journeys/rules.h"
#include "analysis/journeys/totals.h"
#include "analysis/journeys/units/unit_store.h"

namespace sojourn::journeys {

class MissingParents {
 public:
  MissingParents(const Topology& topology, const Rules& rules, std::uint64_t open_ns,
                 UnitStore& store, const Losses& losses, const LoopInputs& loops, Totals& totals)
      : topology_(topology),
        rules_(rules),
        open_ns_(open_ns),
        store_(store),
        losses_(losses),
        loops_(loops),
        totals_(totals),
        waits_(topology.points.size()) {}

  // A unit of the point came this long after its parent.
  void note_wait(PointId point, std::uint64_t span_ns) { waits_[point].note(span_ns); }

  // The unit has the flag kHeadless or kMissing.
  void add(Unit& unit, std::uint64_t now_ns) {
    store_.retain(&unit);
    waiting_.push_back({&unit, now_ns + rules_.linger_ns});
  }

  bool empty() const { return waiting_.empty(); }
  std::uint64_t next_due_ns() const { return waiting_.front().due_ns; }
  void explain(std::uint64_t now_ns);

 private:
  struct Due {
    Unit* unit = nullptr;
    std::uint64_t due_ns = 0;
  };

  bool is_excused(const Unit& unit, const PointPlan& plan) const;

  const Topology& topology_;
  const Rules& rules_;
  std::uint64_t open_ns_;
  UnitStore& store_;
  const Losses& losses_;
  const LoopInputs& loops_;
  Totals& totals_;
  std::vector<MaxSpan> waits_;  // by point of the child
  std::deque<Due> waiting_;
};

}  // namespace sojourn::journeys
