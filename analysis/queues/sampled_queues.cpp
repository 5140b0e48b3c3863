#include "analysis/queues/sampled_queues.h"

#include <utility>

namespace sojourn::queues {

std::string SampledQueue::name() const {
  return about.shown_name();
}

double SampledQueue::arrivals_per_s() const {
  return gauge.seconds() > 0 ? static_cast<double>(gauge.in()) / gauge.seconds() : 0;
}

double SampledQueue::services_per_s() const {
  return gauge.seconds() > 0 ? static_cast<double>(gauge.out()) / gauge.seconds() : 0;
}

std::optional<double> SampledQueue::utilisation() const {
  const auto total_ns = static_cast<double>(gauge.levels().total_ns());
  if (total_ns == 0 || about.kind == model::QueueKind::kBidirectional) return std::nullopt;
  if (about.kind != model::QueueKind::kPool)
    return 1.0 - static_cast<double>(gauge.levels().at_ns(0)) / total_ns;
  if (about.capacity == 0) return std::nullopt;
  return 1.0 - gauge.levels().mean() / static_cast<double>(about.capacity);
}

std::optional<double> SampledQueue::mean_wait_s() const {
  const double rate = services_per_s();
  if (rate <= 0) return std::nullopt;
  if (about.kind != model::QueueKind::kPool) return gauge.levels().mean() / rate;
  if (about.capacity == 0) return std::nullopt;
  return (static_cast<double>(about.capacity) - gauge.levels().mean()) / rate;
}

SampledQueues::SampledQueues(const trace::Reader& reader, ItemSelection selection)
    : schema_(&reader.schema()), selection_(std::move(selection)) {
  for (const model::QueueChange& change : reader.queue_changes()) {
    SampledQueue& stats = this->queue_of(change.about.id);
    stats.about = change.about;
    if (change.event == model::QueueEvent::kAppeared) stats.appeared_ns = change.ts_ns;
    if (change.event == model::QueueEvent::kDescribed) ++stats.described;
    if (change.event == model::QueueEvent::kEnded) stats.ended_ns = change.ts_ns;
  }
}

SampledQueue& SampledQueues::queue_of(std::uint64_t id) {
  const auto [found, is_new] = by_id_.try_emplace(id, queues_.size());
  if (is_new) queues_.emplace_back().about.id = id;
  return queues_[found->second];
}

void SampledQueues::consume(const model::EventBatch& events) {
  for (std::size_t row = 0; row < events.size(); ++row) {
    const auto sample = model::queue_sample(*schema_, events[row]);
    if (!sample) continue;
    SampledQueue& queue = queue_of(sample->queue);
    if (!selection_(events[row])) {
      queue.gauge.pause(events.ts_ns()[row]);
      continue;
    }
    ++samples_;
    queue.gauge.add(events.ts_ns()[row], *sample, queue.about.capacity);
  }
}

void SampledQueues::finish() {
  for (SampledQueue& stats : queues_) stats.gauge.end();
  if (selection_.is_selective())
    std::erase_if(queues_, [](const SampledQueue& stats) { return stats.gauge.empty(); });
}

}  // namespace sojourn::queues
