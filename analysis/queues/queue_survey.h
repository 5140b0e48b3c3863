// All figures of a trace's queues, collected in one pass: sampled queues, those with events of
// their operations, and places between points with the packets in flight there. One thread owns a
// QueueSurvey; the reader, the topology and the objects of the selection must outlive it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/journeys/journey.h"
#include "analysis/journeys/topology.h"
#include "analysis/model/event.h"
#include "analysis/queues/high_water_marks.h"
#include "analysis/queues/item_selection.h"
#include "analysis/queues/operations.h"
#include "analysis/queues/places.h"
#include "analysis/queues/pressure_net.h"
#include "analysis/queues/queue_names.h"
#include "analysis/queues/sampled_queues.h"
#include "analysis/queues/verifier.h"
#include "analysis/trace/reader.h"

namespace sojourn::queues {

class QueueSurvey {
 public:
  // `verifies`: samples are compared with events. `take` is called for each stay; may be empty.
  QueueSurvey(const trace::Reader& reader, const journeys::Topology& topology,
              const ItemSelection& selection, ThreadNames threads, bool verifies,
              Places::TakeStay take);

  // The parts that observe journeys.
  std::vector<journeys::Observer*> observers() { return {&places_, &marks_}; }
  // Takes events, after the observers were called for them.
  void consume(const model::EventBatch& events);
  // `last_ns`: of all events.
  void finish(std::uint64_t last_ns);

  bool is_selective() const { return selection_.is_selective(); }
  bool has_samples() const { return !sampled_.queues().empty(); }
  bool is_empty() const { return !has_samples() && places_.empty() && operations_.empty(); }

  const journeys::Topology& topology() const { return topology_; }
  const ThreadNames& threads() const { return threads_; }
  const SampledQueues& sampled() const { return sampled_; }
  const Operations& operations() const { return operations_; }
  const Places& places() const { return places_; }
  const HighWaterMarks& marks() const { return marks_; }
  const Verifier* verifier() const { return verifier_ ? &*verifier_ : nullptr; }
  // For all items: a queue's depth is made by all of them, so none is found for a selection.
  PressureNet pressure(bool with_samples) const;

 private:
  const trace::Reader& reader_;
  const journeys::Topology& topology_;
  ItemSelection selection_;
  ThreadNames threads_;
  SampledQueues sampled_;
  Operations operations_;
  Places places_;
  HighWaterMarks marks_;
  std::optional<Verifier> verifier_;
};

}  // namespace sojourn::queues
