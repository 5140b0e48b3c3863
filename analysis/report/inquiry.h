// Why packets of a trace file were late: runs the rebuild with everything that listens to it. One
// thread owns an Inquiry.
#pragma once

#include <cstdint>

#include "analysis/base/result.h"
#include "analysis/causes/explainer.h"
#include "analysis/causes/names.h"
#include "analysis/causes/tally.h"
#include "analysis/report/rebuild.h"
#include "analysis/statistics/distribution.h"
#include "analysis/trace/reader.h"

namespace sojourn::report {

// The slowest hundredth of what has so many packets, one of them at least.
std::uint64_t slow_from(const statistics::Distribution& latency_ns);

class Inquiry {
 public:
  // `more` is told of each late packet as well. What is referred to outlives the Inquiry.
  Inquiry(trace::Reader& reader, const journeys::Topology& topology, const journeys::Rules& rules,
          const causes::Deadlines& deadlines, causes::Explainer::Wanted wanted,
          causes::Explainer::Take more);
  Inquiry(const Inquiry&) = delete;
  Inquiry& operator=(const Inquiry&) = delete;

  Result<void> run(Executor& executor, const Progress& progress);

  const causes::Names& names() const { return names_; }
  const causes::Tally& tally() const { return tally_; }
  const causes::Explainer& found() const { return explainer_; }

 private:
  trace::Reader& reader_;
  const journeys::Rules& rules_;
  causes::Names names_;
  causes::Tally tally_;
  causes::Explainer explainer_;
};

}  // namespace sojourn::report
