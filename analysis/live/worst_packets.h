// The slowest packets of each of the last seconds, with the reasons. Packets are chosen for
// explanation as they come: those that are among the slowest of their direction in the second so
// far. So they are few in every second, for any traffic. One thread owns a WorstPackets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/causes/slowest_limits.h"
#include "analysis/causes/verdict.h"
#include "analysis/model/schema.h"

namespace sojourn::live {

class WorstPackets {
 public:
  WorstPackets(std::size_t of_each_second, std::size_t window_s);

  // Notes the latency of a packet. Packets that take longer than deadlines() are worth explaining.
  void note(model::Direction direction, std::uint64_t latency_ns) {
    limits_.note(direction, latency_ns);
  }
  causes::Deadlines deadlines() const { return limits_.limits(); }

  // Seconds count from the start, as everywhere here.
  void add(std::uint64_t second, const causes::Verdict& verdict);
  void advance(std::uint64_t second);
  void clear();

  std::vector<causes::Verdict> slowest(std::size_t most) const;

 private:
  std::size_t most_;
  std::uint64_t now_ = 0;
  causes::SlowestLimits limits_;                       // of this second
  std::vector<std::vector<causes::Verdict>> seconds_;  // a ring
};

}  // namespace sojourn::live
