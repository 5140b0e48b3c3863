// Finds back-pressure in all the queues of a trace: sampled queues are connected by the stages at
// their ends, those with events of their operations by threads, places by the units that go from
// one to another. Added objects outlive the net, and are finished. One thread owns a PressureNet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analysis/journeys/topology.h"
#include "analysis/queues/operations.h"
#include "analysis/queues/places.h"
#include "analysis/queues/pressure.h"
#include "analysis/queues/sampled_queues.h"

namespace sojourn::queues {

// The name of a node, and the stage that drains it.
struct PressureName {
  std::string queue;
  std::string stage;  // empty: not known
};

class PressureNet {
 public:
  // `threads` has the names of threads.
  explicit PressureNet(const std::map<std::uint32_t, std::string>& threads) : threads_(threads) {}

  void add(const SampledQueues& sampled_queues);
  // A queue that was sampled as well is the same node, if it was added before, and gets the threads
  // that connect it to others.
  void add(const Operations& operations);
  void add(const Places& places, const journeys::Topology& topology);

  std::vector<Chain> chains(std::size_t most) const { return queues::chains(nodes_, most); }
  const std::vector<PressureName>& names() const { return names_; }  // by node

 private:
  using Side = std::tuple<std::string, std::int32_t, std::int32_t>;

  // Empty if the target does not name a stage there.
  std::vector<Junction> junctions_of(const model::QueueSide& side);
  void join_threads(const std::map<std::uint32_t, std::uint64_t>& items,
                    std::vector<Junction>& junctions);

  const std::map<std::uint32_t, std::string>& threads_;
  std::vector<PressureNode> nodes_;
  std::vector<PressureName> names_;
  Junction junctions_ = 0;
  std::map<Side, Junction> by_side_;
  std::map<std::uint32_t, Junction> by_thread_;
  std::unordered_map<std::uint64_t, std::size_t> sampled_;  // queue, node
};

}  // namespace sojourn::queues
