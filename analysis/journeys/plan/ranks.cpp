#include "analysis/journeys/plan/ranks.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace sojourn::journeys {

void rank_points(Topology& topology) {
  const auto& pairs = topology.pairs;
  std::vector<std::size_t> missing(topology.points.size(), 0);
  std::vector<std::vector<PointId>> next(topology.points.size());
  for (const auto& pair : pairs) {
    ++missing[pair.child];
    next[pair.parent].push_back(pair.child);
  }
  std::vector<PointId> ready;
  std::set<PointId> left;
  std::set<std::pair<std::uint16_t, PointId>> reached;  // points in `left`, by rank
  for (std::size_t i = 0; i < missing.size(); ++i) {
    const auto point = static_cast<PointId>(i);
    if (missing[i] == 0)
      ready.push_back(point);
    else
      left.insert(point);
  }
  while (!ready.empty() || !left.empty()) {
    if (ready.empty()) {
      ready.push_back(reached.empty() ? *left.begin() : reached.begin()->second);
      reached.erase({topology.points[ready.back()].rank, ready.back()});
      left.erase(ready.back());
    }
    const auto point = ready.back();
    ready.pop_back();
    const auto after = static_cast<std::uint16_t>(topology.points[point].rank + 1);
    for (const auto child : next[point]) {
      if (!left.contains(child)) continue;
      auto& rank = topology.points[child].rank;
      reached.erase({rank, child});
      rank = std::max(rank, after);
      if (--missing[child] == 0) {
        left.erase(child);
        ready.push_back(child);
      } else {
        reached.insert({rank, child});
      }
    }
  }
}

}  // namespace sojourn::journeys
