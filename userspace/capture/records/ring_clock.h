// Converts the cycle counter, which rings are stamped with, to CLOCK_MONOTONIC. Pairs of both are
// added now and then; between two the conversion is a straight line, and each line begins where the
// one before ended. An error that a pair shows is corrected on the way to the next pair, so times
// never go backwards. One thread owns it.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>

#include "userspace/capture/records/cycle_counter.h"

namespace sojourn::capture {

struct CounterPair {
  std::uint64_t ticks = 0;
  std::uint64_t ns = 0;
  std::uint64_t error_ns = 0;  // they were read within twice this
  std::int32_t cpu = -1;       // whose counter it is; -1: not known
};

// The tightest of several readings.
CounterPair read_counter_pair();

class RingClock {
 public:
  // Two pairs some milliseconds apart, to begin with.
  RingClock(const CounterPair& first, const CounterPair& second);

  void add(const CounterPair& pair);

  // When the next pair is due: after twice the time of the last one, a second at most.
  std::uint64_t next_pair_ns() const { return next_pair_ns_; }

  std::uint64_t to_ns(std::uint64_t ticks) const { return line_at(ticks).to_ns(ticks); }
  std::uint64_t to_ticks(std::uint64_t ns) const;  // by the newest line

  // The largest error of a converted stamp so far, including the uncertainty of the readings.
  std::uint64_t largest_error_ns() const { return largest_error_ns_; }

  // One straight line, valid from its first tick to the beginning of the next.
  struct Line {
    std::uint64_t from_ticks = 0;
    std::uint64_t until_ticks = UINT64_MAX;
    std::uint64_t from_ns = 0;
    std::uint64_t ns_per_tick = 0;  // times 2^kShift

    static constexpr unsigned kShift = 40;
    bool holds(std::uint64_t ticks) const { return ticks >= from_ticks && ticks < until_ticks; }
    std::uint64_t to_ns(std::uint64_t ticks) const {
      // Ticks before the first pair lie on the first line.
      if (ticks < from_ticks) return from_ns - scale(from_ticks - ticks);
      return from_ns + scale(ticks - from_ticks);
    }
    std::uint64_t scale(std::uint64_t span) const {
      __extension__ using Wide = unsigned __int128;
      return static_cast<std::uint64_t>((static_cast<Wide>(span) * ns_per_tick) >> kShift);
    }
  };
  const Line& line_at(std::uint64_t ticks) const;

 private:
  std::deque<Line> lines_;  // the newest ones: what is older was converted long ago
  CounterPair last_;
  std::uint64_t interval_ns_ = 0;
  std::uint64_t next_pair_ns_ = 0;
  std::uint64_t largest_error_ns_ = 0;
};

}  // namespace sojourn::capture
