// Statistics of arrivals: how many, how often, how evenly. One thread owns a Series.
#pragma once

#include <cstdint>

#include "analysis/statistics/distribution.h"

namespace sojourn::statistics {

class ArrivalSeries {
 public:
  // Times may not go back.
  void add(std::uint64_t at_ns);

  std::uint64_t count() const { return count_; }
  const Distribution& gaps_ns() const { return gaps_ns_; }  // from each to the next

  // The most arrivals in one millisecond; milliseconds are counted from the first arrival on.
  std::uint64_t busiest_ms() const;
  // busiest_ms() divided by the mean millisecond of the second around it; 0: no arrivals.
  double burstiness() const;

 private:
  struct Busiest {
    std::uint64_t count = 0;
    double times_mean = 0;
  };

  // The busiest of all seconds; the last one counts with this length.
  Busiest busiest(std::uint64_t ms_of_second) const;
  Busiest busiest_so_far() const;

  std::uint64_t count_ = 0;
  Distribution gaps_ns_;
  std::uint64_t first_ns_ = 0;
  std::uint64_t last_ns_ = 0;
  std::uint64_t in_this_ms_ = 0;
  std::uint64_t in_this_second_ = 0;
  std::uint64_t busiest_of_second_ = 0;
  Busiest busiest_;  // of the seconds before
};

}  // namespace sojourn::statistics
