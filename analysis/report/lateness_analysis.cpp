#include "analysis/report/lateness_analysis.h"

#include <utility>
#include <vector>

#include "analysis/statistics/slow_from.h"

namespace sojourn::report {

causes::TraceMetadata metadata_of(const trace::Reader& reader) {
  return {reader.schema(),  reader.context(),       reader.capture(),
          reader.streams(), reader.queue_changes(), reader.targets()};
}

causes::Deadlines deadlines_of(const Summary& summary) {
  return {
      .down_ns = statistics::slow_from(summary.direction(model::Direction::kDownlink).latency_ns),
      .up_ns = statistics::slow_from(summary.direction(model::Direction::kUplink).latency_ns)};
}

LatenessAnalysis::LatenessAnalysis(pipeline::TraceInput& input, const causes::Deadlines& deadlines,
                                   causes::Explainer::Wanted wanted, causes::Explainer::Take more)
    : input_(input),
      names_(input.reader().context()),
      explainer_(metadata_of(input.reader()), input.topology(), input.rules(), names_, deadlines,
                 std::move(wanted), [this, more = std::move(more)](const causes::Verdict& verdict) {
                   tally_.add(verdict, names_);
                   more(verdict);
                 }) {}

Result<void> LatenessAnalysis::run(Executor& executor, const pipeline::Progress& progress,
                                   journeys::Observer* beside) {
  pipeline::TracePass pass(executor, input_);
  pass.observe(explainer_);
  if (beside != nullptr) pass.observe(*beside);
  pass.show(progress);
  pass.consume([this](const model::EventBatch& events) {
    explainer_.consume(events);
    return true;
  });
  SJ_CHECK(pass.run());
  explainer_.finish();
  return {};
}

}  // namespace sojourn::report
