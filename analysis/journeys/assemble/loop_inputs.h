// Learns at which point units enter a loop of points without an input: at the point whose events
// most often have no parent. One thread owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/journeys/units/unit_store.h"

namespace sojourn::journeys {

// The unit is a later round than the first.
inline bool has_round(const Unit& unit, const PointPlan& plan) {
  return plan.harq.round && plan.harq.repeats({unit.values, plan.values});
}

class LoopInputs {
 public:
  explicit LoopInputs(const Topology& topology)
      : begun_(topology.points.size(), 0), inputs_(topology.loops + std::size_t{1}) {}

  // Notes a unit without a parent. Returns true if it certainly entered the loop here. If that is
  // not certain yet, is() decides later.
  bool note(const Unit& unit, const PointPlan& plan) {
    if (plan.loop == 0 || has_round(unit, plan)) return false;
    const auto begun = ++begun_[unit.point];
    auto& most = inputs_[plan.loop];
    if (!most || begun > begun_[*most]) most = unit.point;
    return *most == unit.point && begun >= kEnoughSamples;
  }

  bool is(const Unit& unit, const PointPlan& plan) const {
    return plan.loop != 0 && inputs_[plan.loop] == unit.point && !has_round(unit, plan);
  }

  // Returns the unit that this one repeats when it comes to the input of its loop again. Returns
  // null if it is not at the input or comes there for the first time.
  Unit* round_before(const Unit& unit, const PointPlan& plan, Unit* parent) const {
    if (inputs_[plan.loop] != unit.point) return nullptr;
    for (int turn = 0; turn < kMaxLoop; ++turn) {
      if (parent->point == unit.point) return parent;
      if (parent->parent_count == 0) return nullptr;
      parent = parent->all_parents().front();
    }
    return nullptr;
  }

 private:
  static constexpr std::uint64_t kEnoughSamples = 100;
  static constexpr int kMaxLoop = 64;

  std::vector<std::uint64_t> begun_;            // by point, events without a parent
  std::vector<std::optional<PointId>> inputs_;  // by loop, the point with most of them
};

}  // namespace sojourn::journeys
