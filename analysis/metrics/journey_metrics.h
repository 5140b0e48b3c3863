// The figures of a running capture that monitoring asks for, gathered while its journeys are
// rebuilt: latency of each direction, stays and units in each place, outcomes, events, losses, the
// cost of tracing, sampled queues. All of them count from the capture's beginning. Labels are
// bounded: by directions, places of the schema and registered queues, and by a limit for each.
// Memory does not grow with time. One thread owns it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/journeys/journey.h"
#include "analysis/journeys/topology.h"
#include "analysis/metrics/exposition.h"
#include "analysis/metrics/latency_histogram.h"
#include "analysis/model/capture_info.h"
#include "analysis/model/event.h"
#include "analysis/model/queue_info.h"

namespace sojourn::metrics {

class JourneyMetrics final : public journeys::Observer {
 public:
  static constexpr std::size_t kMaxPlaces = 200;
  static constexpr std::size_t kMaxQueues = 200;

  // A rebuild begins, with these places: what was inside is not known any more.
  void begin(const journeys::Topology& topology);

  bool wants_steps() const override { return false; }
  bool wants_order() const override { return false; }
  void on_journey(const journeys::Journey& journey) override;
  void on_stay(const journeys::Stay& stay) override;
  void on_enter(std::uint16_t place, std::uint64_t ts_ns) override;
  void on_leave(std::uint16_t place, std::uint64_t entered_ns, std::uint64_t ts_ns,
                bool seen) override;

  // All events, in any order.
  void consume(const model::Schema& schema, const model::EventBatch& events);
  void note(const model::Ledger& ledger) { ledger_ = ledger; }
  void note(const model::QueueChanges& changes);

  // `costs_ps`: of a hit of each point, where it is known.
  std::vector<Family> families(const std::vector<std::uint64_t>& costs_ps) const;

 private:
  using Place = std::pair<char, std::string>;  // the direction's letter, and the name
  struct AtPlace {
    LatencyHistogram stays;
    std::int64_t inside = 0;
  };
  struct Way {
    LatencyHistogram latency;
    std::array<std::uint64_t, 4> outcomes = {};
    std::uint64_t retransmissions = 0;
    std::uint64_t ambiguous = 0;
  };

  std::map<char, Way> ways_;
  std::map<Place, AtPlace> places_;
  std::vector<AtPlace*> by_place_;      // of the topology; none: too many
  std::vector<std::uint16_t> of_pair_;  // the place
  std::vector<std::uint64_t> events_;   // by point
  std::map<std::uint64_t, std::string> queue_names_;
  std::map<std::uint64_t, std::uint64_t> depths_;  // of sampled queues, by id
  model::Ledger ledger_;
};

}  // namespace sojourn::metrics
