// Everything that `sojourn report` says, gathered while journeys are rebuilt: latency for each
// direction, the stay in each place, depths, outcomes. Memory does not grow with the trace beyond a
// million samples a distribution. One thread owns a Summary.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "analysis/journeys/journey.h"
#include "analysis/journeys/rebuilder.h"
#include "analysis/pipeline/divisible_observer.h"
#include "analysis/queues/given_up.h"
#include "analysis/report/tracing_cost.h"
#include "analysis/statistics/depth.h"
#include "analysis/statistics/distribution.h"

namespace sojourn::report {

struct DirectionSummary {
  std::uint64_t complete = 0;
  std::uint64_t censored = 0;
  std::uint64_t inside = 0;       // of them, when the capture ended
  std::uint64_t before_open = 0;  // censored, but last seen before the open mark: not counted
  std::uint64_t incomplete = 0;
  std::uint64_t dropped = 0;
  std::uint64_t ambiguous = 0;
  std::uint64_t in_pieces = 0;          // complete ones of more than one segment
  std::uint64_t repeated = 0;           // complete ones with a retransmission
  std::uint64_t at_one_point = 0;       // complete ones with a single event: no latency
  statistics::Distribution latency_ns;  // of the other complete ones
  // The latency without the time of tracing, if that is known.
  statistics::Distribution net_latency_ns;

  // Returns true if there are complete journeys, but none with a latency.
  bool is_timeless() const { return at_one_point != 0 && latency_ns.count() == 0; }

  std::uint64_t count() const { return complete + censored + incomplete + dropped; }
  void merge(DirectionSummary other);
};

// The time that complete journeys spent in a place on the path that decided their latency, so that
// the places of a direction add up to its latencies. A downlink path is followed back from the byte
// that came last, an uplink path on from the byte that came first.
struct PlaceSummary {
  double critical_path_ns = 0;
  double net_critical_path_ns = 0;  // without the time of tracing
  statistics::Depth depth;
  queues::GivenUp given_up;  // units that were never seen to leave
  // Packets that were in it when the capture ended: since when, and how old the oldest of them was.
  statistics::Distribution inside_ns;
  std::uint64_t oldest_inside_ns = 0;

  // Valid at the end.
  std::uint64_t never_left() const { return given_up.count(depth.last_ns()); }
  double never_left_share() const { return given_up.share(depth.last_ns(), depth.spent_ns()); }
  bool is_depth_known() const { return queues::GivenUp::leaves_depth(never_left_share()); }
};

class Summary : public pipeline::DivisibleObserver {
 public:
  // The topology must outlive it. `tracing`: the costs of hits, if the trace has them; then there
  // are net times as well.
  Summary(const journeys::Topology& topology, std::uint64_t open_ns, TracingCost tracing = {});

  bool wants_steps() const override { return false; }
  void on_events(const model::EventBatch& events) override { tracing_.consume(events); }
  void on_journey(const journeys::Journey& journey) override;
  void on_stay(const journeys::Stay& stay) override;
  void on_enter(std::uint16_t place, std::uint64_t ts_ns) override;
  void on_leave(std::uint16_t place, std::uint64_t entered_ns, std::uint64_t ts_ns,
                bool seen) override;
  void finish(std::uint64_t end_ns);
  std::unique_ptr<DivisibleObserver> new_part() const override;
  void merge_part(DivisibleObserver& part) override;

  const DirectionSummary& direction(model::Direction direction) const {
    return directions_[static_cast<std::size_t>(direction)];
  }
  const statistics::Distribution& hop(std::size_t pair) const { return hops_[pair]; }
  // Returns whether times without those of tracing are known.
  bool has_net_times() const { return tracing_.is_known(); }
  const statistics::Distribution& net_hop(std::size_t pair) const { return net_hops_[pair]; }
  std::uint64_t forgotten() const { return forgotten_ + tracing_.forgotten(); }
  const PlaceSummary& place(std::size_t index) const { return places_[index]; }

 private:
  void begin(std::uint64_t ts_ns);
  void merge(Summary&& other);
  void note_inside(const journeys::Journey& journey);
  void add_latency(const journeys::Journey& journey, DirectionSummary& direction);

  const journeys::Topology& topology_;
  std::uint64_t open_ns_;
  bool begun_ = false;
  std::array<DirectionSummary, 4> directions_;
  std::vector<statistics::Distribution> hops_;      // by pair
  std::vector<statistics::Distribution> net_hops_;  // without the time of tracing; empty: unknown
  std::vector<PlaceSummary> places_;
  std::map<std::uint16_t, std::uint64_t> inside_since_;  // of a journey, by place
  TracingCost tracing_;
  std::uint64_t forgotten_ = 0;  // of those whose times were merged
};

}  // namespace sojourn::report
