// Opens and closes a capture: from the open mark on everything is in the trace or in the ledger,
// and from the close mark on nothing counts. Both marks are instants ahead of time, which hold on
// all CPUs at once. The capture's thread owns it; what it refers to outlives it.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/capture/output/capture_output.h"
#include "userspace/capture/processes/traced_processes.h"
#include "userspace/capture/session/capture_record.h"
#include "userspace/capture/session/source_set.h"
#include "userspace/capture/session/ticker.h"

namespace sojourn::capture {

class CaptureGate {
 public:
  CaptureGate(const Options& options, SourceSet& sources, CaptureRecord& record,
              CaptureOutput& output, TracedProcesses& processes)
      : options_(&options),
        sources_(&sources),
        record_(&record),
        output_(&output),
        processes_(&processes) {}

  // Returns once the open mark has passed, after calling on_open() of the tickers.
  Result<void> open(const std::vector<Ticker*>& tickers);
  // Returns once the close mark has passed: the end of the duration, or an instant shortly ahead.
  void close();

  std::uint64_t tracer_cpu_ns() const;  // of this process, since the open mark

 private:
  const Options* options_;
  SourceSet* sources_;
  CaptureRecord* record_;
  CaptureOutput* output_;
  TracedProcesses* processes_;
  std::uint64_t tracer_cpu_at_open_ns_ = 0;
};

}  // namespace sojourn::capture
