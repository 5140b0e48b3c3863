// Times of cycle stamps, interpolated between the few instants at which both the clock and the
// cycle counter are known. The error is bounded by leaving out one of these instants after the
// other, and checked against clock stamps that were not used. One thread owns a CycleTimes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/imports/cycle_clock.h"

namespace sojourn::xlap {

struct Instant {
  std::uint64_t cycles = 0;
  std::uint64_t unix_ns = 0;
};

class CycleTimes {
 public:
  // Clock stamps are whole microseconds.
  static constexpr std::uint64_t kResolutionNs = 1000;
  // Instants that are nearer to each other than this say little of the counter's speed.
  static constexpr std::uint64_t kApartNs = 10'000'000;

  // Takes instants in any order. Those that are too near to the one before are kept for checks.
  explicit CycleTimes(std::vector<Instant> instants);

  bool ready() const { return clock_.ready(); }
  std::size_t used() const { return clock_.pairs(); }
  // That contradict their neighbours: the clock or the counter went back.
  std::size_t odd() const { return odd_; }
  std::optional<std::uint64_t> unix_ns(std::uint64_t cycles) const {
    return clock_.unix_ns(cycles);
  }
  bool is_outside(std::uint64_t cycles) const {
    return cycles < clock_.first_cycles() || cycles > clock_.last_cycles();
  }
  // Returns whether it is one of the instants that times come from.
  bool is_used(std::uint64_t cycles) const { return std::ranges::binary_search(used_, cycles); }
  // Nothing with fewer than three instants.
  std::optional<std::uint64_t> bound_ns() const { return bound_ns_; }

 private:
  imports::CycleClock clock_;
  std::vector<std::uint64_t> used_;  // cycles, rising
  std::size_t odd_ = 0;
  std::optional<std::uint64_t> bound_ns_;
};

}  // namespace sojourn::xlap
