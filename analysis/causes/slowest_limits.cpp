#include "analysis/causes/slowest_limits.h"

#include <algorithm>
#include <functional>

namespace sojourn::causes {

SlowestLimits::SlowestLimits(std::size_t most) : most_(std::max<std::size_t>(most, 1)) {}

void SlowestLimits::note(model::Direction direction, std::uint64_t latency_ns) {
  auto& slowest = direction == model::Direction::kUplink ? up_ns_ : down_ns_;
  if (slowest.size() == most_ && latency_ns <= slowest.front()) return;
  if (slowest.size() == most_) {
    std::ranges::pop_heap(slowest, std::greater<>());
    slowest.pop_back();
  }
  slowest.push_back(latency_ns);
  std::ranges::push_heap(slowest, std::greater<>());
}

Deadlines SlowestLimits::limits() const {
  const auto of = [this](const std::vector<std::uint64_t>& slowest) {
    return slowest.size() < most_ ? 0 : slowest.front();
  };
  return {.down_ns = of(down_ns_), .up_ns = of(up_ns_)};
}

void SlowestLimits::clear() {
  down_ns_.clear();
  up_ns_.clear();
}

}  // namespace sojourn::causes
