#include "analysis/report/costs.h"

namespace sojourn::report {

Costs costs_of(const model::Capture& capture, const model::Ledger& ledger,
               const journeys::Totals& totals) {
  Costs costs;
  costs.points.resize(totals.points.size());
  for (std::size_t point = 0; point < costs.points.size(); ++point)
    costs.points[point].hits = totals.points[point].events;
  for (const model::LedgerEntry& entry : ledger)
    if (entry.point < costs.points.size()) costs.points[entry.point].hits += entry.count;
  bool is_known = false;
  for (std::size_t point = 0; point < costs.points.size(); ++point) {
    PointCosts& of_point = costs.points[point];
    if (point < capture.hit_cost_ps.size()) of_point.hit_ps = capture.hit_cost_ps[point];
    if (point < capture.hit_spread_ps.size()) of_point.spread_ps = capture.hit_spread_ps[point];
    of_point.took_ns =
        static_cast<double>(of_point.hits) * static_cast<double>(of_point.hit_ps) / 1e3;
    costs.took_ns += of_point.took_ns;
    is_known |= of_point.hit_ps != 0;
  }
  if (is_known && capture.target_cpu_ns != 0)
    costs.share = costs.took_ns / static_cast<double>(capture.target_cpu_ns);
  return costs;
}

}  // namespace sojourn::report
