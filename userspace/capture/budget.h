// Decides which points are off for a while, so that tracing takes no more than a share of the
// target's CPU. Fed with totals every now and then, it measures over a window of up to a second
// since the last change. Over the budget the most expensive points go first, until what is left is
// well below it; under half of it they come back, cheapest first, one, then two, then four: what a
// point costs while it is off is not known, so each return is a trial, and trials that fail grow
// rarer. One thread owns a Budget.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "analysis/model/schema.h"

namespace sojourn::capture {

struct BudgetPoint {
  std::uint64_t hit_ps = 0;
  bool may_shed = true;  // false: slots and scalars, which give all others their meaning
};

class Budget {
 public:
  Budget(double share, const std::vector<BudgetPoint>& points);

  // All of them anew: those that it has stay as they are but for their costs, others have come.
  void set_points(const std::vector<BudgetPoint>& points);

  struct Decision {
    double share = 0;  // of the target's CPU, as measured
    std::vector<model::PointId> shed;
    std::vector<model::PointId> restored;
  };
  // `hits` by point and `cpu_ns` of the target, both since any time in the past.
  Decision look(std::uint64_t now_ns, std::span<const std::uint64_t> hits, std::uint64_t cpu_ns);

  double share() const { return share_; }
  bool is_whole() const;  // nothing is off

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

  std::vector<model::PointId> shed(double cost_ns, double cpu_ns);
  std::vector<model::PointId> restore();
  void begin_anew(const Sample& sample);

  double share_;
  std::vector<State> states_;
  std::deque<Sample> samples_;
  std::uint64_t next_trial_ns_ = 0;
  std::uint64_t last_trial_ns_ = 0;
  std::uint64_t backoff_ns_;
  std::size_t step_ = 1;
};

}  // namespace sojourn::capture
