// The sampled queues of a trace: the description of each, and the figures of its samples. Takes the
// events in the order of time, then finish(). One thread owns a SampledQueues; the reader outlives
// it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/queue_info.h"
#include "analysis/queues/gauge.h"
#include "analysis/queues/item_selection.h"
#include "analysis/trace/reader.h"

namespace sojourn::queues {

struct SampledQueue {
  model::QueueInfo about;         // the newest; only an id if the trace does not describe the queue
  std::uint64_t appeared_ns = 0;  // 0: it was there before
  std::uint64_t ended_ns = 0;     // 0: it is still there
  std::uint64_t described = 0;    // changes of its description
  Gauge gauge;

  std::string name() const;  // "queue 1f3" if it has none

  // Figures derived from the gauge, by the kind of queue. Nothing if a figure has no meaning for
  // it.
  double arrivals_per_s() const;
  double services_per_s() const;
  // For stages: the share of time in which the queue held items. For pools: the mean share of their
  // buffers in use.
  std::optional<double> utilisation() const;
  // By Little's law: mean depth over rate. For pools: how long a buffer is in use.
  std::optional<double> mean_wait_s() const;
};

class SampledQueues {
 public:
  // With a selection only wanted samples count, and only queues that have some.
  explicit SampledQueues(const trace::Reader& reader, ItemSelection selection = {});

  void consume(const model::EventBatch& events);
  void finish();

  // In the order in which they were first described, or sampled.
  const std::vector<SampledQueue>& queues() const { return queues_; }
  std::uint64_t samples() const { return samples_; }

 private:
  SampledQueue& queue_of(std::uint64_t id);

  const model::Schema* schema_;
  ItemSelection selection_;
  std::vector<SampledQueue> queues_;
  std::unordered_map<std::uint64_t, std::size_t> by_id_;
  std::uint64_t samples_ = 0;
};

}  // namespace sojourn::queues
