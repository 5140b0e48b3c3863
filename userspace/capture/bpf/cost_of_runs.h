// The cost of a hit from many runs of the same measurement. Whatever disturbs a run makes it
// longer: an interrupt, cold caches after another thread had the CPU, time that a hypervisor took
// away. So the cost is that of the lower quartile, which is right as long as a quarter of the runs
// were not disturbed. Beside a target that leaves this process little of a CPU, fewer are: the cost
// is at most a quarter more than that of the fastest 32nd. The spread is how far the middle run is
// above it, as a share of the cost.
#pragma once

#include <cstdint>
#include <span>

namespace sojourn::capture {

struct CostOfRuns {
  std::uint64_t ps = 0;
  double spread = 0;
};

// `runs` is not empty. Sorts it.
CostOfRuns cost_of_runs(std::span<std::uint64_t> runs);

}  // namespace sojourn::capture
