// Why packets of a trace file were late: a pass over it with everything that listens to it. One
// thread owns a LatenessAnalysis.
#pragma once

#include <cstdint>

#include "analysis/base/result.h"
#include "analysis/causes/cause_totals.h"
#include "analysis/causes/context_name_table.h"
#include "analysis/causes/explainer.h"
#include "analysis/pipeline/trace_pass.h"
#include "analysis/report/summary.h"

namespace sojourn::report {

causes::TraceMetadata metadata_of(const trace::Reader& reader);

// The deadline of each direction: what its slowest hundredth took.
causes::Deadlines deadlines_of(const Summary& summary);

class LatenessAnalysis {
 public:
  // `more` gets each late packet as well. The arguments must outlive the LatenessAnalysis.
  LatenessAnalysis(pipeline::TraceInput& input, const causes::Deadlines& deadlines,
                   causes::Explainer::Wanted wanted, causes::Explainer::Take more);
  LatenessAnalysis(const LatenessAnalysis&) = delete;
  LatenessAnalysis& operator=(const LatenessAnalysis&) = delete;

  // The parts of verdicts have their stretches of time.
  void keep_stretches() { explainer_.keep_stretches(); }
  // `beside` sees the same rebuild.
  Result<void> run(Executor& executor, const pipeline::Progress& progress,
                   journeys::Observer* beside = nullptr);

  const causes::ContextNameTable& names() const { return names_; }
  const causes::CauseTotals& tally() const { return tally_; }
  const causes::Explainer& found() const { return explainer_; }

 private:
  pipeline::TraceInput& input_;
  causes::ContextNameTable names_;
  causes::CauseTotals tally_;
  causes::Explainer explainer_;
};

}  // namespace sojourn::report
