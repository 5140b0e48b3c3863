// The parts of a report beside its journeys: kernel context, perf events, spans that the target
// timed itself, a script's results, energy, and threads if there is nothing else. It sees all
// events of one pass. One thread owns it, and the reader must outlive it.
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

  // Valid after finish(). Null if the trace has no such events.
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
  std::optional<energy::EnergyFigures> energy_;  // if readings were requested
  Activities activities_;
  std::optional<threads::ThreadSurvey> survey_;  // if the trace has nothing else
};

}  // namespace sojourn::report
