// Where units come into a loop of points. Nothing feeds a loop but itself, so that is learnt: the
// point whose events come without a parent most often. One thread owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/journeys/units/unit_store.h"

namespace sojourn::journeys {

// The unit says that it repeats something.
inline bool has_round(const Unit& unit, const PointPlan& plan) {
  return plan.round && unit.values[*plan.round] != 0;
}

class LoopInputs {
 public:
  explicit LoopInputs(const Topology& topology)
      : begun_(topology.points.size(), 0), inputs_(topology.loops + std::size_t{1}) {}

  // The unit has no parent. Whether it plainly began the loop; what is not plain yet is() judges
  // later.
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

  // What comes to a loop's input again was there before: it is the next round of that. None: it is
  // not at the input, or was not there before.
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

  std::vector<std::uint64_t> begun_;            // by point of a loop: events without a parent
  std::vector<std::optional<PointId>> inputs_;  // by loop: where most of them are
};

}  // namespace sojourn::journeys
