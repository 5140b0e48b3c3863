#include "analysis/report/lateness_analysis.h"

#include <algorithm>
#include <utility>

namespace sojourn::report {

std::uint64_t slow_from(const statistics::Distribution& latency_ns) {
  if (latency_ns.count() == 0) return UINT64_MAX;
  constexpr double kShare = 0.99;
  const std::uint64_t longest_ns = latency_ns.max();
  return std::min(latency_ns.quantile(kShare), longest_ns - std::min<std::uint64_t>(longest_ns, 1));
}

LatenessAnalysis::LatenessAnalysis(trace::Reader& reader, const journeys::Topology& topology,
                                   const journeys::Rules& rules, const causes::Deadlines& deadlines,
                                   causes::Explainer::Wanted wanted, causes::Explainer::Take more)
    : reader_(reader),
      rules_(rules),
      names_(reader.context()),
      explainer_({reader.schema(), reader.context(), reader.capture(), reader.streams(),
                  reader.queue_changes(), reader.targets()},
                 topology, rules, names_, deadlines, std::move(wanted),
                 [this, more = std::move(more)](const causes::Verdict& verdict) {
                   tally_.add(verdict, names_);
                   more(verdict);
                 }) {}

Result<void> LatenessAnalysis::run(Executor& executor, const Progress& progress) {
  SJ_CHECK(rebuild(executor, reader_, rules_, explainer_, progress,
                   [this](const model::EventBatch& events) {
                     explainer_.consume(events);
                     return true;
                   }));
  explainer_.finish();
  return {};
}

}  // namespace sojourn::report
