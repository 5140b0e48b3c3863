#include "analysis/differential/direction_traits.h"

#include <algorithm>

#include "analysis/differential/blocks.h"

namespace sojourn::differential {

DirectionTraits traits_of(const AttributeCollector& collector, model::Direction direction,
                          double least_support, std::size_t most) {
  const PacketAttributes& table = collector.of(direction);
  DirectionTraits found = {
      .direction = letter(direction),
      .packets = table.packets(),
      .slow = static_cast<std::uint64_t>(std::ranges::count(table.is_slow, true)),
      .slow_from_ns = collector.slow_from_ns(direction),
      .traits = {}};
  const auto& latencies = collector.latencies_ns(direction);
  if (const auto blocks = independent_blocks(latencies, effective_size(latencies)))
    found.blocks = blocks->count;
  found.traits =
      distinguish(table, {.least_support = least_support, .blocks = found.blocks, .most = most});
  return found;
}

}  // namespace sojourn::differential
