// Why packets of a trace file were late: runs the rebuild with everything that listens to it. One
// thread owns a LatenessAnalysis.
#pragma once

#include <cstdint>

#include "analysis/base/result.h"
#include "analysis/causes/cause_totals.h"
#include "analysis/causes/context_name_table.h"
#include "analysis/causes/explainer.h"
#include "analysis/report/rebuild.h"
#include "analysis/statistics/distribution.h"
#include "analysis/trace/reader.h"

namespace sojourn::report {

// The slowest hundredth of what has so many packets, one of them at least.
std::uint64_t slow_from(const statistics::Distribution& latency_ns);

class LatenessAnalysis {
 public:
  // `more` is told of each late packet as well. What is referred to outlives the LatenessAnalysis.
  LatenessAnalysis(trace::Reader& reader, const journeys::Topology& topology,
                   const journeys::Rules& rules, const causes::Deadlines& deadlines,
                   causes::Explainer::Wanted wanted, causes::Explainer::Take more);
  LatenessAnalysis(const LatenessAnalysis&) = delete;
  LatenessAnalysis& operator=(const LatenessAnalysis&) = delete;

  Result<void> run(Executor& executor, const Progress& progress);

  const causes::ContextNameTable& names() const { return names_; }
  const causes::CauseTotals& tally() const { return tally_; }
  const causes::Explainer& found() const { return explainer_; }

 private:
  trace::Reader& reader_;
  const journeys::Rules& rules_;
  causes::ContextNameTable names_;
  causes::CauseTotals tally_;
  causes::Explainer explainer_;
};

}  // namespace sojourn::report
