// The figures of a running capture that monitoring asks for, gathered while its journeys are
// rebuilt: latency of each direction, stays and units in each place, outcomes, causes of slow
// packets, events, losses, the cost of tracing, sampled queues, and latency of each UE where that
// was asked for. All of them count from the capture's beginning. Labels are bounded: by directions,
// places of the schema, kinds of causes, registered queues and UEs, and by a limit for each.
// Memory does not grow with time. One thread owns it.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/journeys/journey.h"
#include "analysis/journeys/topology.h"
#include "analysis/metrics/exposition.h"
#include "analysis/metrics/latency_histogram.h"
#include "analysis/model/capture_info.h"
#include "analysis/model/event.h"
#include "analysis/model/queue_info.h"
#include "analysis/model/schema.h"

namespace sojourn::metrics {

class JourneyMetrics final : public journeys::Observer {
 public:
  static constexpr std::size_t kMaxPlaces = 200;
  static constexpr std::size_t kMaxQueues = 200;
  static constexpr std::size_t kMaxSlow = 400;  // combinations of direction, cause and place

  // `ues`: how many UEs have a latency of their own, the first that are seen; the others are one.
  explicit JourneyMetrics(std::size_t ues = 0) : max_ues_(ues) {}

  // Begins a rebuild with these places: units that were inside are forgotten. The schema and the
  // topology must stay until the next begin().
  void begin(const journeys::Topology& topology, const model::Schema& schema);

  bool wants_steps() const override { return max_ues_ != 0; }
  bool wants_order() const override { return false; }
  void on_journey(const journeys::Journey& journey) override;
  void on_stay(const journeys::Stay& stay) override;
  void on_enter(std::uint16_t place, std::uint64_t ts_ns) override;
  void on_leave(std::uint16_t place, std::uint64_t entered_ns, std::uint64_t ts_ns,
                bool seen) override;

  // Notes one of the slowest packets of a second, and the cause of most of its latency.
  void note_slow(model::Direction direction, std::string_view cause, const std::string& place,
                 std::uint64_t latency_ns);

  // All events, in any order.
  void consume(const model::Schema& schema, const model::EventBatch& events);
  void note(const model::Ledger& ledger) { ledger_ = ledger; }
  void note(const model::QueueChanges& changes);

  // `costs_ps`: the cost of a hit of each point, if known.
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

  struct Slow {
    std::uint64_t packets = 0;
    double seconds = 0;
  };
  struct SlowKey {
    char direction = 'D';
    std::string cause;
    std::string place;
    auto operator<=>(const SlowKey&) const = default;
  };

  void add_ues(std::vector<Family>& families) const;
  std::string queue_name(std::uint64_t id) const;
  void add_slow(std::vector<Family>& families) const;

  std::size_t max_ues_;
  const model::Schema* schema_ = nullptr;
  std::set<std::string> ues_;  // UEs that have a latency of their own
  std::map<std::pair<char, std::string>, LatencyHistogram> of_ues_;
  std::map<SlowKey, Slow> slow_;
  std::map<char, Way> ways_;
  std::map<Place, AtPlace> places_;
  std::vector<AtPlace*> by_place_;      // of the topology; null: too many
  std::vector<std::uint16_t> of_pair_;  // the place
  std::vector<std::uint64_t> events_;   // by point
  std::map<std::uint64_t, std::string> queue_names_;
  std::map<std::uint64_t, std::uint64_t> depths_;  // of sampled queues, by id
  model::Ledger ledger_;
};

}  // namespace sojourn::metrics
