// A p-value, adjusted for many tests. The smallest value that can be computed is shown as a bound.
#pragma once

#include <string>

#include <fmt/format.h>

#include "analysis/differential/anderson_darling.h"

namespace sojourn::present {

inline std::string p_text(double p, double adjusted_p) {
  return fmt::format("p {}{:.2g}", p <= differential::kLeastLimitP ? "< " : "", adjusted_p);
}

}  // namespace sojourn::present
