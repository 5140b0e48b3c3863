// Turns journeys as sojourn rebuilds them into LatSeq's shape: one journey for each way of a
// segment, downlink to each output and uplink from each reception. A retransmission is no way of
// its own. One thread owns it; the recording and the topology must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/journeys/journey.h"
#include "analysis/journeys/topology.h"
#include "analysis/latseq/latseq_journeys.h"
#include "analysis/latseq/recording.h"

namespace sojourn::latseq {

class NativeJourneys : public journeys::Observer {
 public:
  NativeJourneys(Recording& recording, const journeys::Topology& topology,
                 const model::Schema& schema);

  bool wants_places() const override { return false; }
  void on_journey(const journeys::Journey& journey) override;

  // Called once, after the last journey.
  Journeys finish();

  // The number of ways that were left out: LatSeq's tools would not read one of their events, or
  // one packet has more of them than is reasonable.
  std::uint64_t left_out() const { return left_out_; }

 private:
  void walk_back(const journeys::Journey& journey, std::uint32_t step);
  void add_way(const journeys::Journey& journey);
  std::uint32_t path_of(const Journey& journey);

  Recording& recording_;
  const journeys::Topology& topology_;
  std::vector<NameId> inputs_;
  NameId uid_;
  std::unordered_map<std::uint32_t, std::unordered_map<std::uint64_t, std::uint32_t>> by_event_;
  std::vector<std::uint32_t> way_;  // steps, the last first
  std::size_t ways_ = 0;            // of the present journey
  std::uint64_t left_out_ = 0;
  Journeys result_;
};

}  // namespace sojourn::latseq
