#include "analysis/report/deadline_misses.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace sojourn::report {

std::vector<std::size_t> late_hops(const journeys::Topology& topology, const Summary& summary,
                                   std::uint64_t deadline_ns) {
  std::vector<std::pair<std::uint64_t, std::size_t>> late;
  for (std::size_t i = 0; i < topology.pairs.size(); ++i) {
    const auto& child = topology.points[topology.pairs[i].child];
    if (child.drop || child.ack) continue;
    const std::uint64_t times = summary.hop(i).above(deadline_ns);
    if (times > 0) late.emplace_back(times, i);
  }
  std::ranges::stable_sort(late, std::ranges::greater(),
                           &std::pair<std::uint64_t, std::size_t>::first);
  std::vector<std::size_t> hops;
  hops.reserve(late.size());
  for (const auto& [times, index] : late) hops.push_back(index);
  return hops;
}

}  // namespace sojourn::report
