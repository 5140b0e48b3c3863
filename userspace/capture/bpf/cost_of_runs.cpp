#include "userspace/capture/bpf/cost_of_runs.h"

#include <algorithm>

namespace sojourn::capture {

CostOfRuns cost_of_runs(std::span<std::uint64_t> runs) {
  std::ranges::sort(runs);
  const std::uint64_t fastest = runs[runs.size() / 32];
  const std::uint64_t cost = std::min(runs[runs.size() / 4], fastest + fastest / 4);
  const auto above = static_cast<double>(runs[runs.size() / 2] - cost);
  return {.ps = cost, .spread = cost == 0 ? 0 : above / static_cast<double>(cost)};
}

}  // namespace sojourn::capture
