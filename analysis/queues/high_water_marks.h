// Finds the journeys that were in a sampled queue when it was deepest. A queue's place is known by
// its name, or by the threads at its ends (model::QueueInfo). An Observer of the rebuild: stays are
// known when a journey is reported, and a queue's depth once the samples up to then are read, so
// stays are kept until settle(). One thread owns a HighWaterMarks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/journeys/journey.h"
#include "analysis/journeys/topology.h"
#include "analysis/queues/sampled_queues.h"

namespace sojourn::queues {

struct HighWaterMark {
  static constexpr std::size_t kMaxListed = 8;
  bool is_placed = false;  // units were seen to go through it; false: its contents are not known
  std::uint64_t ts_ns = 0;
  std::uint64_t inside = 0;
  std::vector<std::uint64_t> journeys;  // the first of them to be reported
  std::uint64_t newest = 0;             // of all of them
};

class HighWaterMarks : public journeys::Observer {
 public:
  // For the sampled queues that are known by now. The topology outlives it.
  HighWaterMarks(const journeys::Topology& topology, const SampledQueues& sampled_queues,
                 std::map<std::uint32_t, std::string> threads);

  void on_journey(const journeys::Journey& journey) override;
  // To be called when the sampled queues have all samples up to the end of the reported journeys.
  void settle(const SampledQueues& sampled_queues);
  // Called at the end of the trace.
  void finish(const SampledQueues& sampled_queues);

  // The mark of the queue with this id; null: there is no such queue.
  const HighWaterMark* find(std::uint64_t queue) const;

 private:
  struct Stay {
    std::size_t queue = 0;
    std::uint64_t entered_ns = 0;
    std::uint64_t left_ns = 0;
    std::uint64_t journey = 0;
  };
  // The queues that belong to a place.
  struct Plan {
    std::vector<std::size_t> whole;
    std::unordered_map<std::uint64_t, std::size_t> by_group;
  };
  std::optional<std::size_t> queue_of(std::uint16_t place, const journeys::Step& from,
                                      const journeys::Step& to);
  const std::vector<std::size_t>& joining(std::uint32_t from_tid, std::uint32_t to_tid);
  static void renew(const SampledQueue& stats, HighWaterMark& mark);
  static void note(const Stay& stay, HighWaterMark& mark);

  const journeys::Topology& topology_;
  std::map<std::uint32_t, std::string> threads_;
  std::vector<model::QueueInfo> queues_;  // as in the sampled queues
  std::unordered_map<std::uint64_t, std::size_t> by_id_;
  std::vector<HighWaterMark> marks_;  // of the same
  std::vector<Plan> plans_;           // by place
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::size_t>> joining_;
  std::vector<Stay> stays_;  // not settled yet
};

}  // namespace sojourn::queues
