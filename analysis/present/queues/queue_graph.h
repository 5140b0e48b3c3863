// The feeding and draining threads of each queue as a graph: stages are its nodes, queues the
// arrows between them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/present/words/graph.h"
#include "analysis/queues/operations.h"
#include "analysis/queues/sampled_queues.h"

namespace sojourn::present {

// "pdcp 0", "mac in process 42", or "?" if it is not known.
std::string side_text(const model::QueueSide& side);

// The threads that fed and drained a queue most, by the events of its operations. They are used for
// an end whose stage the target does not name. Empty: unknown.
struct QueueEnds {
  std::string feeds;
  std::string drains;
};
using QueueEndsById = std::map<std::uint64_t, QueueEnds>;
QueueEndsById ends_of(const queues::Operations& operations,
                      const std::map<std::uint32_t, std::string>& threads);
QueueEnds ends_of(const QueueEndsById& ends, std::uint64_t id);

// The stage that the target names, else the thread, else "?".
std::string end_text(const model::QueueSide& side, const std::string& thread);

Graph sampled_graph(const std::vector<queues::SampledQueue>& queues,
                    const QueueEndsById& ends = {});

}  // namespace sojourn::present
