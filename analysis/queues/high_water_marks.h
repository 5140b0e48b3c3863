// Which journeys were inside of the sampled queues when these were deepest. Whose place a queue is,
// its name tells, or the threads at its ends (model::QueueInfo). An Observer of the rebuild: who
// stayed where is known when a journey is told of, and how deep a queue was by then once the
// samples up to there are read; so stays are kept until settle(). One thread owns a HighWaterMarks.
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
  bool is_placed = false;  // units were seen to go through it: else nobody can say who was inside
  std::uint64_t ts_ns = 0;
  std::uint64_t inside = 0;
  std::vector<std::uint64_t> journeys;  // the first of them to be told of
  std::uint64_t newest = 0;             // of all of them
};

class HighWaterMarks : public journeys::Observer {
 public:
  // Of the sampled queues's queues that are known by now. The topology outlives it.
  HighWaterMarks(const journeys::Topology& topology, const SampledQueues& sampled_queues,
                 std::map<std::uint32_t, std::string> threads);

  void on_journey(const journeys::Journey& journey) override;
  // All samples up to the end of what was told of by now were given to the sampled queues.
  void settle(const SampledQueues& sampled_queues);
  // And no more come.
  void finish(const SampledQueues& sampled_queues);

  // By the queue's id; null: it is not known.
  const HighWaterMark* find(std::uint64_t queue) const;

 private:
  struct Stay {
    std::size_t queue = 0;
    std::uint64_t entered_ns = 0;
    std::uint64_t left_ns = 0;
    std::uint64_t journey = 0;
  };
  // The queues that a place is.
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
