// By how much stamps of a CPU are corrected where the CPUs' cycle counters disagree. Where they
// agree as far as could be measured nothing is corrected. Plain data, no thread of its own.
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

  // Whether any counter is apart from the first CPU's.
  bool is_needed() const { return is_needed_; }

  struct Correction {
    std::int64_t ahead_ticks = 0;  // to be taken off a stamp
    std::uint64_t error_ns = 0;    // how far it may be off then
    bool is_known = true;          // which CPU's stamp it is
  };
  // Of a CPU that was not measured, as of a stamp whose CPU is not known: the middle of what all
  // measured ones leave possible.
  Correction of_cpu(std::int32_t cpu) const;
  Correction of_any() const { return any_; }
  // How far stamps of CPUs that are known may be off at most.
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
