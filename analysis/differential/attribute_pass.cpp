#include "analysis/differential/attribute_pass.h"

#include <map>
#include <string>

#include "analysis/causes/cause_totals.h"
#include "analysis/pipeline/trace_marks.h"
#include "analysis/present/causes/cause_labels.h"
#include "analysis/profile/sampled_work.h"
#include "analysis/report/lateness_analysis.h"
#include "analysis/trace/reader.h"

namespace sojourn::differential {
namespace {

// The explainer has to see all stays, so the pass itself keeps everything.
class KeptJourneys : public journeys::Observer {
 public:
  KeptJourneys(journeys::Observer& observer, const pipeline::TracePass::Predicate& keep)
      : observer_(observer), keep_(keep) {}

  bool wants_order() const override { return false; }
  bool wants_places() const override { return false; }
  void on_journey(const journeys::Journey& journey) override {
    if (!keep_ || keep_(journey)) observer_.on_journey(journey);
  }

 private:
  journeys::Observer& observer_;
  const pipeline::TracePass::Predicate& keep_;
};

}  // namespace

AttributeCollector::About about(pipeline::TraceInput& input) {
  const trace::Reader& reader = input.reader();
  return {.schema = reader.schema(),
          .topology = input.topology(),
          .streams = reader.streams(),
          .thread_names = profile::thread_names(reader.context()),
          .origin_ns = pipeline::origin_ns(reader)};
}

Result<void> gather_attributes(Executor& executor, pipeline::TraceInput& input,
                               const pipeline::TracePass::Predicate& keep,
                               const pipeline::Progress& progress, AttributeCollector& collector) {
  const causes::ContextNameTable names(input.reader().context());
  constexpr std::size_t kMostLabels = 4096;
  std::map<causes::Cause, std::string> labels;
  const auto label_of = [&](const causes::Cause& cause) {
    if (const auto known = labels.find(cause); known != labels.end()) return known->second;
    std::string label = present::label(cause, input.topology());
    if (labels.size() < kMostLabels) labels.emplace(cause, label);
    return label;
  };
  // With deadlines of 0 all packets are explained, and not only late ones.
  report::LatenessAnalysis analysis(
      input, {.down_ns = 0, .up_ns = 0}, keep, [&](const causes::Verdict& verdict) {
        if (verdict.parts.empty()) return;
        const causes::Cause cause = causes::cause_of(verdict.parts.front(), names);
        collector.note_cause(verdict.direction, verdict.journey, label_of(cause));
      });
  KeptJourneys kept(collector, keep);
  SJ_CHECK(analysis.run(executor, progress, &kept));
  collector.finish();
  return {};
}

}  // namespace sojourn::differential
