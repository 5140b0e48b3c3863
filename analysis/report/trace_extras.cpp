#include "analysis/report/trace_extras.h"

#include <algorithm>

namespace sojourn::report {

namespace {

bool has_points_of_target(const model::Schema& schema) {
  return std::ranges::any_of(
      schema.points, [](const model::Point& point) { return is_of_target(point.direction); });
}

}  // namespace

TraceExtras::TraceExtras(const trace::Reader& reader, const journeys::Topology& topology)
    : reader_(reader),
      times_(reader.schema(), reader.context(), reader.streams(), reader.capture(),
             model::pids_of(reader.targets())),
      work_(reader.schema(), topology, reader.profile()),
      spans_(reader.schema()) {
  if (!has_points_of_target(reader.schema()))
    survey_.emplace(reader.schema(), reader.context(), reader.streams(), reader.capture(),
                    model::pids_of(reader.targets()));
}

void TraceExtras::consume(const model::EventBatch& events) {
  times_.consume(events);
  work_.consume(events);
  spans_.consume(events);
  if (survey_) survey_->consume(events);
}

void TraceExtras::finish(std::uint64_t end_ns) {
  times_.finish(end_ns);
  work_.finish();
  if (survey_) survey_->finish(end_ns);
}

void TraceExtras::add_to(ReportContent& content) const {
  if (!reader_.context().families.empty()) content.context = &times_;
  if (!work_.is_empty()) content.work = &work_;
  if (!spans_.empty()) content.spans = &spans_;
  if (survey_ && survey_->knows_states()) content.threads = &*survey_;
  content.thread_names = profile::thread_names(reader_.context());
}

}  // namespace sojourn::report
