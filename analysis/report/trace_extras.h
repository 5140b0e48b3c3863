// What a report tells of a trace beside its journeys: the kernel's doings, perf events, spans that
// the target timed itself, what a script made of the events, energy, and threads where there is
// nothing else. Sees all events of one pass; one thread owns it, and the reader outlives it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "analysis/context/thread_times.h"
#include "analysis/energy/energy_account.h"
#include "analysis/energy/energy_meter.h"
#include "analysis/journeys/topology.h"
#include "analysis/model/event.h"
#include "analysis/profile/sampled_work.h"
#include "analysis/report/activities.h"
#include "analysis/report/target_spans.h"
#include "analysis/threads/thread_survey.h"
#include "analysis/trace/reader.h"

namespace sojourn::report {

class TraceExtras {
 public:
  TraceExtras(const trace::Reader& reader, const journeys::Topology& topology);

  void consume(const model::EventBatch& events);
  void finish(std::uint64_t end_ns);

  const context::ThreadTimes& times() const { return times_; }

  // After finish(). Null where the trace has nothing of it.
  const context::ThreadTimes* context() const;
  const profile::SampledWork* work() const { return work_.is_empty() ? nullptr : &work_; }
  const Activities* activities() const { return activities_.is_empty() ? nullptr : &activities_; }
  const TargetSpans* spans() const { return spans_.empty() ? nullptr : &spans_; }
  const threads::ThreadSurvey* threads() const;
  const energy::EnergyFigures* energy() const { return energy_ ? &*energy_ : nullptr; }
  std::map<std::uint32_t, std::string> thread_names() const;

 private:
  const trace::Reader& reader_;
  context::ThreadTimes times_;
  profile::SampledWork work_;
  TargetSpans spans_;
  energy::EnergyMeter meter_;
  std::optional<energy::EnergyFigures> energy_;  // where readings were asked for
  Activities activities_;
  std::optional<threads::ThreadSurvey> survey_;  // of what has nothing else to tell
};

}  // namespace sojourn::report
