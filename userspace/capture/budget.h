// Decides which points are off for a while, so that tracing takes no more than a share of the
// target's CPU. It is given totals now and then, and measures over a window of up to a second since
// the last change. Points go off and come back in groups (shed_plan.h). Over the budget the most
// expensive groups of the first turn go off, then those of paths, until the rest is well below it.
// Under half of it they come back, paths first and the cheapest of them, one, then two, then four.
// The cost of a group that is off is not known, so each return is a trial, and trials that fail
// grow rarer. One thread owns a Budget.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "analysis/model/schema.h"
#include "userspace/capture/session/budget_limits.h"
#include "userspace/capture/session/shed_plan.h"

namespace sojourn::capture {

struct BudgetPoint {
  std::uint64_t hit_ps = 0;
  ShedTurn turn = ShedTurn::kPath;
  std::uint32_t group = 0;  // 0: the point is a group of its own
};

class Budget {
 public:
  Budget(const BudgetLimits& limits, const std::vector<BudgetPoint>& points);

  // Sets all points. Known ones stay on or off and get new costs; the others are new.
  void set_points(const std::vector<BudgetPoint>& points);

  struct Decision {
    double share = 0;    // of the target's CPU, as measured
    double allowed = 0;  // of the target's CPU, by the budget
    std::vector<model::PointId> shed;
    std::vector<model::PointId> restored;
  };
  // Takes the totals of hits, by point, and of the target's CPU time, and decides.
  Decision look(std::uint64_t now_ns, std::span<const std::uint64_t> hits, std::uint64_t cpu_ns);

  const BudgetLimits& limits() const { return limits_; }
  bool is_whole() const;  // no point is off

 private:
  struct Sample {
    std::uint64_t now_ns = 0;
    std::uint64_t cpu_ns = 0;
    std::vector<std::uint64_t> hits;
  };
  struct State {
    BudgetPoint point;
    bool is_off = false;
    double cost_ns = 0;  // a second, when it was last on
  };
  struct Group {
    ShedTurn turn = ShedTurn::kPath;
    double cost_ns = 0;
    std::vector<model::PointId> points;
  };

  // The groups with points that are off, or those with points that are on and may be shed.
  std::vector<Group> groups(bool off) const;
  std::vector<model::PointId> shed(double cost_ns, double allowed_ns);
  std::vector<model::PointId> restore();
  double allowed_ns(double cpu_ns) const;  // a second
  void begin_anew(const Sample& sample);

  BudgetLimits limits_;
  std::vector<State> states_;
  std::deque<Sample> samples_;
  std::uint64_t next_trial_ns_ = 0;
  std::uint64_t last_trial_ns_ = 0;
  std::uint64_t backoff_ns_;
  std::size_t step_ = 1;
};

}  // namespace sojourn::capture
