// Finds back-pressure: a slow stage lets the queue before it grow, then the one before that, and so
// on. It is found from depths over time and from which queue feeds which. Plain computations;
// memory and time grow with queues and their feeders, not with pairs of queues.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/queues/depth_series.h"

namespace sojourn::queues {

// A stage or thread that takes items out of queues and puts them into others. Counted from 0.
using Junction = std::size_t;

// The items of each queue that a junction drains go on into each that it feeds.
struct PressureNode {
  const DepthSeries* series = nullptr;  // null: it is never deep
  std::uint64_t capacity = 0;           // 0: not bounded, or not known
  std::vector<Junction> fed_by = {};
  std::vector<Junction> drained_by = {};
};

// A span in which a queue was deep: at least half its high-water mark and at least kDeep, or full.
struct Episode {
  std::size_t node = 0;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint64_t peak = 0;
};
constexpr std::uint64_t kDeep = 8;

// The first is the queue before the slow stage; each of the others became deep while the one before
// it in the list was. Between two of them there may be queues that were not deep. No queue is twice
// in a chain, and no chain is longer than kMaxChain.
using Chain = std::vector<Episode>;
constexpr std::size_t kMaxChain = 64;

// The longest ones, in the order of time.
std::vector<Chain> chains(const std::vector<PressureNode>& nodes, std::size_t most);

}  // namespace sojourn::queues
