// Corrects stamps if the cycle counters of the CPUs disagree: how much each CPU's stamps are ahead.
// If the counters agree within the measurement's error nothing is corrected. Plain data.
#pragma once

#include <cstdint>
#include <map>

#include "userspace/capture/records/counter_offsets.h"
#include "userspace/capture/records/ring_clock.h"

namespace sojourn::capture {

class CounterCorrector {
 public:
  CounterCorrector() = default;
  explicit CounterCorrector(const CounterOffsets& offsets);

  // Returns whether any CPU's counter is apart from the first CPU's.
  bool is_needed() const { return is_needed_; }

  struct Correction {
    std::int64_t ahead_ticks = 0;  // to be subtracted from a stamp
    std::uint64_t error_ns = 0;    // the largest error of a corrected stamp
    bool is_known = true;          // false: the stamp's CPU is not known
  };
  // The correction for a CPU. If the CPU was not measured, or is not known (of_any()), it is the
  // middle of all corrections that the measurements leave possible.
  Correction of_cpu(std::int32_t cpu) const;
  Correction of_any() const { return any_; }
  // The largest error of a corrected stamp whose CPU is known.
  std::uint64_t known_error_ns() const { return known_error_ns_; }

  // Both clocks, as the first CPU would have read them.
  CounterPair corrected(CounterPair pair) const;
  // The counter now, as the first CPU reads it.
  std::uint64_t now() const;

 private:
  bool is_needed_ = false;
  std::map<std::int32_t, Correction> by_cpu_;
  Correction any_;
  std::uint64_t known_error_ns_ = 0;
};

}  // namespace sojourn::capture
