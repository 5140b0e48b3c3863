// Estimates how far apart the clocks of a trace's CPUs are, from packets that go from one CPU to
// another: a packet cannot arrive before it was sent. This is for traces with one stream for each
// CPU whose clocks were not compared during the recording. The clocks of one machine run at one
// rate, so each offset is a constant, and the bounds of all offsets are a system of differences (a
// linear program, solved by shortest paths). Plain data and functions without state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/differential/clock_bounds.h"
#include "analysis/journeys/rules.h"
#include "analysis/trace/reader.h"

namespace sojourn::differential {

// A packet that one CPU sent, by its clock, and another one received, by its own.
struct CpuHop {
  std::size_t from = 0;  // indices of CPUs
  std::size_t to = 0;
  double took_ns = 0;  // by the two clocks: may be negative
};

struct CpuClock {
  std::int32_t cpu = 0;
  std::uint64_t sent = 0;      // packets to others
  std::uint64_t received = 0;  // and from them
  Bounds ahead_ns;  // how far it is ahead of the first CPU's clock; infinite: not bounded

  bool is_bounded() const;
  // Returns whether the packets prove that the clock is not equal to the first CPU's.
  bool is_apart() const { return ahead_ns.low > 0 || ahead_ns.high < 0; }
  double correction_ns() const { return is_apart() && is_bounded() ? ahead_ns.middle() : 0; }
  double error_ns() const;  // of its corrected stamps, against the first CPU's clock
};

// The bounds of `cpus` clocks against the first one. Fails if the hops contradict each other.
Result<std::vector<Bounds>> bounds_of_offsets(std::size_t cpus, std::span<const CpuHop> hops);

class CpuClocks {
 public:
  // Packets that took longer by the two clocks are left out: their ids were used again.
  static constexpr double kFurthestNs = 1e9;
  // The number of events at the beginning of the trace that are used.
  static constexpr std::uint64_t kMostEvents = 1'000'000;

  CpuClocks() = default;  // no correction
  // Fails if the trace does not name the CPUs of its events, or if packets contradict each other.
  static Result<CpuClocks> find(trace::Reader& reader, const journeys::Rules& rules);

  const std::vector<CpuClock>& all() const { return clocks_; }  // the first one is the reference
  std::uint64_t corrected_ns(std::uint32_t stream, std::uint64_t ts_ns) const {
    const auto ahead = ahead_ns_.find(stream);
    return ahead == ahead_ns_.end() ? ts_ns : ts_ns - static_cast<std::uint64_t>(ahead->second);
  }
  double widest_error_ns() const;  // the largest error of the bounded clocks

 private:
  std::vector<CpuClock> clocks_;
  std::map<std::uint32_t, std::int64_t> ahead_ns_;  // by stream, of those to be corrected
};

}  // namespace sojourn::differential
