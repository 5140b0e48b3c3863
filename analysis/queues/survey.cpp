#include "analysis/queues/survey.h"

#include <utility>

namespace sojourn::queues {

std::string Story::name() const {
  return about.shown_name();
}

double Story::arrivals_per_s() const {
  return gauge.seconds() > 0 ? static_cast<double>(gauge.in()) / gauge.seconds() : 0;
}

double Story::services_per_s() const {
  return gauge.seconds() > 0 ? static_cast<double>(gauge.out()) / gauge.seconds() : 0;
}

std::optional<double> Story::utilisation() const {
  const auto total_ns = static_cast<double>(gauge.levels().total_ns());
  if (total_ns == 0 || about.kind == model::QueueKind::kBidirectional) return std::nullopt;
  if (about.kind != model::QueueKind::kPool)
    return 1.0 - static_cast<double>(gauge.levels().at_ns(0)) / total_ns;
  if (about.capacity == 0) return std::nullopt;
  return 1.0 - gauge.levels().mean() / static_cast<double>(about.capacity);
}

std::optional<double> Story::mean_wait_s() const {
  const double rate = services_per_s();
  if (rate <= 0) return std::nullopt;
  if (about.kind != model::QueueKind::kPool) return gauge.levels().mean() / rate;
  if (about.capacity == 0) return std::nullopt;
  return (static_cast<double>(about.capacity) - gauge.levels().mean()) / rate;
}

Survey::Survey(const trace::Reader& reader, Selection selection)
    : schema_(&reader.schema()), selection_(std::move(selection)) {
  for (const model::QueueChange& change : reader.queue_changes()) {
    Story& story = this->story(change.about.id);
    story.about = change.about;
    if (change.event == model::QueueEvent::kAppeared) story.appeared_ns = change.ts_ns;
    if (change.event == model::QueueEvent::kDescribed) ++story.described;
    if (change.event == model::QueueEvent::kEnded) story.ended_ns = change.ts_ns;
  }
}

Story& Survey::story(std::uint64_t id) {
  const auto [found, is_new] = by_id_.try_emplace(id, stories_.size());
  if (is_new) stories_.emplace_back().about.id = id;
  return stories_[found->second];
}

void Survey::consume(const model::EventBatch& events) {
  for (std::size_t row = 0; row < events.size(); ++row) {
    const auto sample = model::queue_sample(*schema_, events[row]);
    if (!sample) continue;
    Story& queue = story(sample->queue);
    if (!selection_(events[row])) {
      queue.gauge.pause(events.ts_ns()[row]);
      continue;
    }
    ++samples_;
    queue.gauge.add(events.ts_ns()[row], *sample, queue.about.capacity);
  }
}

void Survey::finish() {
  for (Story& story : stories_) story.gauge.end();
  if (selection_.chooses())
    std::erase_if(stories_, [](const Story& story) { return story.gauge.empty(); });
}

}  // namespace sojourn::queues
