// The limits of the CPU time that tracing may take before points are switched off. Plain data.
#pragma once

#include <limits>

namespace sojourn::capture {

struct BudgetLimits {
  double share = 0;  // of the target's CPU time
  // Shares of one processor: tracing never takes more than `most`, and below `least` no point is
  // shed.
  double most = std::numeric_limits<double>::infinity();
  double least = 0;
  bool is_default = false;  // not asked for: it limits eBPF's hits, which are expensive

  // The limits of captures without --budget.
  static constexpr BudgetLimits usual() {
    return {.share = 0.05, .most = 0.1, .least = 0.005, .is_default = true};
  }
};

}  // namespace sojourn::capture
