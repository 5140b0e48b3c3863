// The traits of the slow packets of one direction, from the attributes of all of them. Plain data
// and a function without state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/differential/attribute_collector.h"
#include "analysis/differential/traits.h"
#include "analysis/model/schema.h"

namespace sojourn::differential {

struct DirectionTraits {
  char direction = 'D';
  std::uint64_t packets = 0;
  std::uint64_t slow = 0;
  std::uint64_t slow_from_ns = 0;  // 0: a filter defines which packets are slow
  // Blocks that were permuted. Below 8 there are too little data for p-values.
  std::size_t blocks = 0;
  std::vector<Trait> traits;
};

inline constexpr double kLeastSupport = 0.1;
inline constexpr std::size_t kMostTraits = 15;

// Blocks of time are as many as the latencies are worth. Ask after the collector has finished.
DirectionTraits traits_of(const AttributeCollector& collector, model::Direction direction,
                          double least_support = kLeastSupport, std::size_t most = kMostTraits);

}  // namespace sojourn::differential
