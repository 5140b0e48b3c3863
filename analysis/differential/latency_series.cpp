#include "analysis/differential/latency_series.h"

#include <algorithm>

namespace sojourn::differential {

std::optional<ShareInterval> LatencySeries::above(char direction, const std::string& name,
                                                  std::uint64_t ns) {
  const Key key(direction, name);
  auto band = bands_.find(key);
  if (band == bands_.end()) {
    std::vector<Packet>& packets = series_[key];
    std::ranges::stable_sort(packets, {}, &Packet::start_ns);
    std::vector<float> latencies;
    latencies.reserve(packets.size());
    for (const Packet& packet : packets) latencies.push_back(static_cast<float>(packet.latency_ns));
    band = bands_.emplace(key, DistributionBand(latencies)).first;
  }
  return band->second.above(static_cast<double>(ns));
}

}  // namespace sojourn::differential
