// What tracing took from the target: hits times what a hit costs, which was measured before the
// capture (docs/capture.md). Computed from the trace alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/report/report.h"

namespace sojourn::report {

struct PointCosts {
  std::uint64_t hits = 0;  // kept, lost and filtered: all of them were paid for
  std::uint64_t hit_ps = 0;
  double took_ns = 0;
};

struct Costs {
  std::vector<PointCosts> points;  // by point
  double took_ns = 0;
  std::optional<double> share;  // of the target's CPU time; none: not measured
};

Costs costs_of(const ReportContent& content);

struct ShedTimes {
  std::uint64_t times = 0;
  std::uint64_t ns = 0;
};
std::map<model::PointId, ShedTimes> shed_by_point(const model::Capture& capture);

std::string costs_text(const ReportContent& content);
nlohmann::ordered_json costs_json(const ReportContent& content);

}  // namespace sojourn::report
