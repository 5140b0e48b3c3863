// Measures how far apart the CPUs' cycle counters are. Two threads of normal priority keep the
// first CPU and one other CPU busy for a moment, for each other CPU in turn. No state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sojourn::capture {

struct CounterOffset {
  std::uint32_t cpu = 0;
  double ns = 0;        // ahead of the first CPU's
  double error_ns = 0;  // half of the shortest round trip
  double ticks = 0;     // the same two values in ticks
  double error_ticks = 0;

  // Returns whether the offset is larger than the measurement's error.
  bool is_apart() const { return (ns < 0 ? -ns : ns) > error_ns; }
};

struct CounterOffsets {
  std::uint32_t first_cpu = 0;
  std::vector<CounterOffset> others;  // at most kMostCpus of the CPUs that this process may use
  std::uint32_t silent = 0;           // CPUs that did not answer in time, or not undisturbed
  std::string why_not;                // why nothing was measured

  static constexpr std::uint32_t kMostCpus = 64;
  // A round trip takes less than a microsecond. In a trip of more than twice this time a thread
  // has lost its CPU.
  static constexpr double kMostErrorNs = 10'000;

  // Counts the CPUs that never answered undisturbed as silent.
  void leave_out_disturbed();
};

// The time for measuring each pair of CPUs: kThorough before anything is recorded, kBrief while a
// target runs, which loses at most that much CPU time.
enum class CounterCare : std::uint8_t { kThorough, kBrief };

CounterOffsets measure_counter_offsets(CounterCare care = CounterCare::kThorough);

}  // namespace sojourn::capture
