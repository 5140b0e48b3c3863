#include "analysis/differential/cause_change.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "analysis/differential/blocks.h"

namespace sojourn::differential {
namespace {

using Causes = std::span<const RunCauses>;

// A figure of each run that has packets, for each of its complete packets.
std::vector<double> rates(Causes runs, const std::string& cause, std::uint64_t CauseOfRun::* what) {
  std::vector<double> values;
  for (const RunCauses& run : runs) {
    if (run.complete == 0) continue;
    const auto found = run.causes.find(cause);
    const std::uint64_t of_cause = found == run.causes.end() ? 0 : found->second.*what;
    values.push_back(static_cast<double>(of_cause) / static_cast<double>(run.complete));
  }
  return values;
}

double mean_or_zero(const std::vector<double>& values) {
  return values.empty() ? 0 : mean(std::span<const double>(values));
}

}  // namespace

std::vector<CauseChange> cause_changes(Causes base, Causes now) {
  std::set<std::string> names;
  for (const Causes side : {base, now})
    for (const RunCauses& run : side)
      for (const auto& [cause, of_run] : run.causes) names.insert(cause);
  std::vector<CauseChange> changes;
  for (const std::string& cause : names) {
    const auto base_packets = rates(base, cause, &CauseOfRun::packets);
    const auto now_packets = rates(now, cause, &CauseOfRun::packets);
    CauseChange& change = changes.emplace_back();
    change.cause = cause;
    change.base_packets = mean_or_zero(base_packets);
    change.now_packets = mean_or_zero(now_packets);
    const auto base_error = mean_error(base_packets);
    const auto now_error = mean_error(now_packets);
    if (base_error && now_error) change.half = half_interval_of_difference(*base_error, *now_error);
    change.base_ns = mean_or_zero(rates(base, cause, &CauseOfRun::ns));
    change.now_ns = mean_or_zero(rates(now, cause, &CauseOfRun::ns));
  }
  std::ranges::stable_sort(changes, std::ranges::greater(), &CauseChange::by_ns);
  return changes;
}

}  // namespace sojourn::differential
