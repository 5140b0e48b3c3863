// The conversion of one host's clock to that of the first host of a merge, and how far it may be
// off. Plain data and functions without state.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "analysis/differential/clock_bounds.h"

namespace sojourn::differential {

struct HostClock {
  std::size_t host = 0;
  // A point of the host's own clock since its first event; between two, it is a straight line.
  struct Knot {
    double theirs = 0;
    double ours = 0;
    double half = 0;  // of the bounds
  };
  std::vector<Knot> knots;
  std::size_t steps = 0;
  Bounds drift;  // how fast it goes by the first host's clock, before its first step
  Bounds rate;   // how fast the first host's clock goes by it, in all of the trace
  std::optional<double>
      off_by_ns;  // by TAI: so far at least from what packets leave; none: it fits

  double widest_half() const;
  // By what share times between two of its events may be too long or too short once they are
  // converted, on average over the trace.
  double rate_error() const;

  // `map` relates this clock to another host's, which is `by`; null: that is the first host.
  // `is_theirs`: this clock is the map's second one.
  void set_speeds(const ClockMap& map, bool is_theirs, const HostClock* by);
  // Widens the bounds of knots with a step between them: an event there may be off by all of it.
  void widen_at_steps();
};

}  // namespace sojourn::differential
