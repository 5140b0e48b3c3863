#include "analysis/queues/queue_survey.h"

#include <algorithm>
#include <utility>

namespace sojourn::queues {

QueueSurvey::QueueSurvey(const trace::Reader& reader, const journeys::Topology& topology,
                         const ItemSelection& selection, ThreadNames threads, bool verifies,
                         Places::TakeStay take)
    : reader_(reader),
      topology_(topology),
      selection_(selection),
      threads_(std::move(threads)),
      sampled_(reader, selection),
      operations_(reader.schema(), reader.queue_changes(), reader.capture().open_ns, selection),
      places_(topology, reader.capture().open_ns, std::move(take), selection),
      marks_(topology, sampled_, threads_) {
  if (verifies) verifier_.emplace(reader);
}

void QueueSurvey::consume(const model::EventBatch& events) {
  sampled_.consume(events);
  marks_.settle(sampled_);
  operations_.consume(events);
  if (verifier_) verifier_->consume(events);
}

void QueueSurvey::finish(std::uint64_t last_ns) {
  const std::uint64_t end_ns =
      std::min(selection_.until_ns, std::max(last_ns, reader_.capture().close_ns));
  marks_.finish(sampled_);
  sampled_.finish();
  operations_.finish(end_ns);
  places_.finish(end_ns);
  if (verifier_) verifier_->finish();
}

PressureNet QueueSurvey::pressure(bool with_samples) const {
  PressureNet net(threads_);
  if (selection_.is_selective()) return net;
  if (with_samples) net.add(sampled_);
  net.add(operations_);
  net.add(places_, topology_);
  return net;
}

}  // namespace sojourn::queues
