// The difference between sojourn-uneven-counters and sojourn: it imitates a machine whose CPUs'
// cycle counters disagree. The counters of odd CPUs are SJ_UNEVEN_TICKS ahead of those of even
// ones.
#include "tests/support/uneven_counters.h"

#include <cstdint>

#include <x86intrin.h>

#include "userspace/capture/records/cycle_counter.h"

namespace sojourn::capture {

std::uint64_t read_cycle_counter() {
  unsigned node_and_cpu = 0;
  const std::uint64_t ticks = __rdtscp(&node_and_cpu);
  return ticks + (node_and_cpu & 1) * std::uint64_t{SJ_UNEVEN_TICKS};
}

}  // namespace sojourn::capture
