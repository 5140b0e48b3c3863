// Finds the slowest packets of each second while journeys are rebuilt, and what took most of their
// time, for JourneyMetrics. An observer of the rebuild, which takes all events as well, after the
// rebuild has. Memory is bounded by the few seconds in which causes are looked for. One thread owns
// a SlowPackets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "analysis/causes/context_name_table.h"
#include "analysis/causes/explainer.h"
#include "analysis/causes/slowest_limits.h"
#include "analysis/journeys/journey.h"
#include "analysis/journeys/rules.h"
#include "analysis/journeys/topology.h"
#include "analysis/metrics/journey_metrics.h"

namespace sojourn::metrics {

class SlowPackets final : public journeys::Observer {
 public:
  static constexpr std::size_t kOfEachSecond = 4;  // of a direction

  // Referred objects outlive it.
  SlowPackets(const causes::TraceMetadata& source, const journeys::Topology& topology,
              const journeys::Rules& rules, JourneyMetrics& figures);

  bool wants_order() const override { return false; }
  bool wants_steps_of(const journeys::Journey& journey) const override {
    return explainer_.wants_steps_of(journey);
  }
  void on_journey(const journeys::Journey& journey) override;
  void on_stay(const journeys::Stay& stay) override { explainer_.on_stay(stay); }
  void consume(const model::EventBatch& events);

 private:
  struct Slow {
    std::uint64_t latency_ns = 0;
    causes::CauseKind kind = causes::CauseKind::kUnknown;
    std::uint16_t place = 0;
  };
  // Downlink and uplink, the slowest first.
  using Second = std::array<std::vector<Slow>, 2>;

  void keep(const causes::Verdict& verdict);
  void begin(std::uint64_t second);

  const journeys::Topology& topology_;
  JourneyMetrics& figures_;
  journeys::Rules rules_;
  causes::ContextNameTable names_;
  causes::SlowestLimits slowest_;
  std::uint64_t second_ = 0;
  std::map<std::uint64_t, Second> seconds_;  // seconds that are not counted yet
  causes::Explainer explainer_;
};

}  // namespace sojourn::metrics
