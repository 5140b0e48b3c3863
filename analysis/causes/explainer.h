// Finds the late packets of a trace while its journeys are rebuilt, and why each was late. An
// Observer of the rebuild that also takes all events, after the rebuild has: a packet is classified
// once the context up to its end is known. Memory is bounded by Timeline's limits and by the
// journeys of one batch of events. One thread owns an Explainer.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "analysis/causes/context_name_table.h"
#include "analysis/causes/delay_classifier.h"
#include "analysis/causes/queue_positions.h"
#include "analysis/causes/timeline.h"
#include "analysis/causes/verdict.h"
#include "analysis/journeys/journey.h"

namespace sojourn::causes {

// A complete packet that took longer than its deadline is late.
struct Deadlines {
  std::uint64_t down_ns = UINT64_MAX;
  std::uint64_t up_ns = UINT64_MAX;

  std::uint64_t of(model::Direction direction) const {
    return direction == model::Direction::kUplink ? up_ns : down_ns;
  }
};

class Explainer : public journeys::Observer {
 public:
  using Wanted = std::function<bool(const journeys::Journey&)>;
  using Take = std::function<void(const Verdict&)>;

  // `wanted` selects packets; without it all count. `take` gets each late one. Referred objects
  // outlive the Explainer.
  Explainer(const TraceMetadata& source, const journeys::Topology& topology,
            const journeys::Rules& rules, const ContextNameTable& names, const Deadlines& deadlines,
            Wanted wanted, Take take, Timeline::Limits limits = {});

  bool wants_steps_of(const journeys::Journey& journey) const override;
  void on_journey(const journeys::Journey& journey) override;
  void on_stay(const journeys::Stay& stay) override { positions_.add(stay); }
  // Applies from the next journey on. It must not be called while another thread makes journeys.
  void set_deadlines(const Deadlines& deadlines) { deadlines_ = deadlines; }
  // The parts of verdicts have their stretches of time.
  void keep_stretches() { classifier_.keep_stretches(); }
  // Takes events in time order, each after the rebuild has taken it.
  void consume(const model::EventBatch& events);
  // After the rebuild's end.
  void finish() { classify_pending(); }
  // Called after finish() if the deadlines were too low: sets the right ones, and how many packets
  // exceeded them.
  void settle(const Deadlines& deadlines, std::uint64_t late) {
    deadlines_ = deadlines;
    late_ = late;
  }

  std::uint64_t complete() const { return complete_; }  // packets that have a latency
  // Complete packets that were seen at one point only: whether they were late is not known.
  std::uint64_t at_one_point() const { return at_one_point_; }
  std::uint64_t late() const { return late_; }
  // Late packets that began before the remembered time: they are not explained.
  std::uint64_t forgotten() const { return forgotten_; }
  // By the point at which packets were dropped.
  const std::map<model::PointId, std::uint64_t>& dropped() const { return dropped_; }

 private:
  void classify_pending();

  const journeys::Topology& topology_;
  const journeys::PacketNames names_;
  Deadlines deadlines_;
  Wanted wanted_;
  Take take_;
  Timeline timeline_;
  QueuePositions positions_;
  DelayClassifier classifier_;
  std::vector<CriticalPath> pending_;
  std::map<model::PointId, std::uint64_t> dropped_;
  std::uint64_t complete_ = 0;
  std::uint64_t at_one_point_ = 0;
  std::uint64_t late_ = 0;
  std::uint64_t forgotten_ = 0;
};

}  // namespace sojourn::causes
