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
      spans_(reader.schema()),
      meter_(reader.schema(), reader.energy(), reader.capture()),
      activities_(reader.schema()) {
  if (!has_points_of_target(reader.schema()))
    survey_.emplace(reader.schema(), reader.context(), reader.streams(), reader.capture(),
                    model::pids_of(reader.targets()));
}

void TraceExtras::consume(const model::EventBatch& events) {
  times_.consume(events);
  work_.consume(events);
  spans_.consume(events);
  meter_.consume(events);
  activities_.consume(events);
  if (survey_) survey_->consume(events);
}

void TraceExtras::finish(std::uint64_t end_ns) {
  times_.finish(end_ns);
  work_.finish();
  meter_.finish(end_ns);
  if (reader_.energy().was_asked_for())
    energy_ = energy::energy_figures(meter_, reader_.host().cpu_model);
  if (survey_) survey_->finish(end_ns);
}

const context::ThreadTimes* TraceExtras::context() const {
  return reader_.context().families.empty() ? nullptr : &times_;
}

const threads::ThreadSurvey* TraceExtras::threads() const {
  return survey_ && survey_->knows_states() ? &*survey_ : nullptr;
}

std::map<std::uint32_t, std::string> TraceExtras::thread_names() const {
  return profile::thread_names(reader_.context());
}

}  // namespace sojourn::report
