// How much of a target's CPU tracing may take before points go off. Plain data.
#pragma once

#include <limits>

namespace sojourn::capture {

struct BudgetLimits {
  double share = 0;  // of the target's CPU time
  // Of one processor: never more, and below the second nothing is worth cutting a journey for.
  double most = std::numeric_limits<double>::infinity();
  double least = 0;
  bool is_default = false;  // nobody asked for it: it is of what eBPF records, which is dear

  // What captures have that are not told otherwise.
  static constexpr BudgetLimits usual() {
    return {.share = 0.05, .most = 0.1, .least = 0.005, .is_default = true};
  }
};

}  // namespace sojourn::capture
