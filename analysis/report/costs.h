// The time that tracing took from the target: hits times the cost of a hit, which was measured
// before the capture (docs/capture.md). Computed from the trace alone.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/journeys/totals.h"
#include "analysis/model/capture_info.h"

namespace sojourn::report {

struct PointCosts {
  std::uint64_t hits = 0;  // kept, lost and filtered: all of them were paid for
  std::uint64_t hit_ps = 0;
  std::uint64_t spread_ps = 0;  // by how much measurements of that differed
  double took_ns = 0;
};

struct Costs {
  std::vector<PointCosts> points;  // by point
  double took_ns = 0;
  std::optional<double> share;  // of the target's CPU time; unset: not measured
};

Costs costs_of(const model::Capture& capture, const model::Ledger& ledger,
               const journeys::Totals& totals);

}  // namespace sojourn::report
