// Back-pressure in all the queues of a trace: sampled queues hang together by the stages at their
// ends, those with events of their operations by threads, places by the units that go from one to
// another. What is added outlives the net, and is finished by then. One thread owns a PressureNet.
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

// What a node of chains is called, and the stage that drains it.
struct PressureName {
  std::string queue;
  std::string stage;  // empty: not known
};

class PressureNet {
 public:
  // Threads have these names.
  explicit PressureNet(const std::map<std::uint32_t, std::string>& threads) : threads_(threads) {}

  void add(const SampledQueues& sampled_queues);
  // One that was sampled as well is there already, if that was added before: what is new is which
  // threads join it to others.
  void add(const Operations& operations);
  void add(const Places& places, const journeys::Topology& topology);

  std::vector<Chain> chains(std::size_t most) const { return queues::chains(nodes_, most); }
  const std::vector<PressureName>& names() const { return names_; }  // by node

 private:
  using Side = std::tuple<std::string, std::int32_t, std::int32_t>;

  // None where the target does not say what is there.
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
