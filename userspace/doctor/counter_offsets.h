// How far apart the CPUs' cycle counters are. Two threads keep two CPUs busy for some milliseconds
// each; the calling thread's CPUs are as before afterwards.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sojourn::doctor {

struct CounterOffset {
  std::uint32_t cpu = 0;
  double ns = 0;        // ahead of the first CPU's
  double error_ns = 0;  // half of the shortest round trip

  // Whether it is more than the measurement leaves open.
  bool is_apart() const { return (ns < 0 ? -ns : ns) > error_ns; }
};

struct CounterOffsets {
  std::uint32_t first_cpu = 0;
  std::vector<CounterOffset> others;  // at most kMostCpus of those that this process may use
  std::uint32_t silent = 0;           // CPUs on which nobody answered in time
  std::string why_not;                // nothing was measured

  static constexpr std::uint32_t kMostCpus = 64;
};

CounterOffsets measure_counter_offsets();

}  // namespace sojourn::doctor
