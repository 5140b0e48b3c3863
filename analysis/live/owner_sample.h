// Chooses the UEs or bearers whose packets are rebuilt if rebuilding all would take too much. Units
// of different owners never share a journey, so the kept owners' journeys do not change. One thread
// owns an OwnerSample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/journeys/topology.h"
#include "analysis/model/event.h"

namespace sojourn::live {

class OwnerSample {
 public:
  // Returns nothing if some point of a path does not name the owner of its packets.
  static std::optional<OwnerSample> of(std::shared_ptr<const journeys::Topology> topology);

  // Counts the events of each owner.
  void count(const model::EventBatch& events);
  // Counts the events, and removes those of owners that are not kept. Sequence numbers close up, so
  // that a gap still means a loss. Blocks must come in the order of their streams.
  void pass(model::EventBatch& events);

  // Keeps owners that had about this share of the events since the last call, at least one; 1 keeps
  // all. Later owners are kept at random, with that share as the probability.
  void keep(double share);

  bool keeps_all() const { return keeps_all_; }
  // Since the last choice, or when it was made:
  std::size_t owners() const;  // that had events
  std::size_t kept() const;
  double kept_share() const;  // of the events
  // Events that were taken out so far, by point.
  const std::vector<std::uint64_t>& taken_out() const { return taken_out_; }

 private:
  // The number of buckets. Owners in one bucket are kept together.
  static constexpr unsigned kBucketBits = 12;
  static constexpr std::size_t kBuckets = std::size_t{1} << kBucketBits;

  explicit OwnerSample(std::shared_ptr<const journeys::Topology> topology)
      : topology_(std::move(topology)),
        events_(kBuckets),
        before_(kBuckets),
        keeps_(kBuckets, true),
        taken_out_(topology_->points.size()) {}

  // Returns kBuckets if the event has no owner.
  std::size_t bucket_of(const model::EventBatch& events, std::size_t row) const;

  std::shared_ptr<const journeys::Topology> topology_;
  // By bucket: since the last choice, and before it for as long as nothing has come.
  const std::vector<std::uint64_t>& known() const { return counted_ == 0 ? before_ : events_; }
  void note(std::size_t bucket) {
    ++events_[bucket];
    ++counted_;
  }

  std::vector<std::uint64_t> events_;  // by bucket
  std::vector<std::uint64_t> before_;
  std::uint64_t counted_ = 0;  // in events_
  std::vector<bool> keeps_;
  bool keeps_all_ = true;
  std::vector<std::uint64_t> taken_out_;     // by point
  std::vector<std::uint64_t> taken_out_of_;  // by stream
};

}  // namespace sojourn::live
