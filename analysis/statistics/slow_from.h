// The one rule for the packets that are slow, or late, where no limit was given: the slowest
// hundredth. No state.
#pragma once

#include <algorithm>
#include <cstdint>

#include "analysis/statistics/distribution.h"

namespace sojourn::statistics {

// The share of packets that are not slow.
constexpr double kInTimeShare = 0.99;

// The latency above which a packet is slow. At least one packet is, however few there are.
inline std::uint64_t slow_from(const Distribution& latency_ns, double share = kInTimeShare) {
  if (latency_ns.count() == 0) return UINT64_MAX;
  const std::uint64_t longest_ns = latency_ns.max();
  return std::min(latency_ns.quantile(share), longest_ns - std::min<std::uint64_t>(longest_ns, 1));
}

}  // namespace sojourn::statistics
