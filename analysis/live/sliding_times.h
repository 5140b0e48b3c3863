// Times, each with the second in which it ended: their distribution over the last seconds as a ring
// of histograms, one a second, and since the start; and a summary of each of the last seconds, for
// a sparkline. Memory does not grow. One thread owns a SlidingTimes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "analysis/live/time_histogram.h"

namespace sojourn::live {

// A second that is over.
struct SecondOfTimes {
  std::uint64_t count = 0;
  std::uint64_t p50_ns = 0;
  std::uint64_t p99_ns = 0;
};

class SlidingTimes {
 public:
  static constexpr std::size_t kHistory = 120;  // seconds, of the sparkline

  explicit SlidingTimes(std::size_t window_s);

  // Seconds count from the start. An older second than the window's counts only since the start.
  void add(std::uint64_t second, std::uint64_t value);
  // Sets the present second, which never goes back.
  void advance(std::uint64_t second);
  void clear();

  TimeHistogram window() const;
  const TimeHistogram& all() const { return all_; }
  const std::deque<SecondOfTimes>& history() const { return history_; }  // the oldest first

 private:
  TimeHistogram& slot(std::uint64_t second) { return slots_[second % slots_.size()]; }

  std::vector<TimeHistogram> slots_;
  TimeHistogram all_;
  std::deque<SecondOfTimes> history_;
  std::uint64_t now_ = 0;
};

}  // namespace sojourn::live
