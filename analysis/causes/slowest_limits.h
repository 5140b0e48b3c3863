// Limits that the slowest packets of each direction exceed, from the latencies since the last
// clear(). With clear() once a second, few packets of each second exceed them, for any traffic. One
// thread owns a SlowestLimits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/causes/explainer.h"
#include "analysis/model/schema.h"

namespace sojourn::causes {

class SlowestLimits {
 public:
  // `most`: how many latencies of a direction lie above its limit, at least one.
  explicit SlowestLimits(std::size_t most);

  void note(model::Direction direction, std::uint64_t latency_ns);
  // 0 until there were enough packets.
  Deadlines limits() const;
  void clear();

 private:
  std::size_t most_;
  std::vector<std::uint64_t> down_ns_;  // heaps of the slowest, the least in front
  std::vector<std::uint64_t> up_ns_;
};

}  // namespace sojourn::causes
