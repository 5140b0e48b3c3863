// Journeys as sojourn rebuilds them, in LatSeq's shape: one for each way that a piece of a packet
// took, downlink to each output and uplink from each reception; repeats are no ways of their own.
// One thread owns it; the recording and the topology must outlive it.
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

  // Once all were seen.
  Journeys finish();

  // Ways of complete journeys that are not among them: of events that LatSeq's tools would not
  // read, or beyond what one packet may reasonably have.
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
  std::size_t ways_ = 0;            // of the journey that is looked at
  std::uint64_t left_out_ = 0;
  Journeys result_;
};

}  // namespace sojourn::latseq
