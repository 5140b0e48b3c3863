// Writes everything that is known to disk once a second, so that a killed capture loses little, and
// reports progress to the listener. Events are written as often as the options say. The capture's
// thread owns it; the objects that it refers to must outlive it.
#pragma once

#include <cstdint>

#include "userspace/capture/output/capture_output.h"
#include "userspace/capture/processes/traced_processes.h"
#include "userspace/capture/session/capture_record.h"
#include "userspace/capture/session/event_pump.h"
#include "userspace/capture/session/ticker.h"

namespace sojourn::capture {

class ProgressReporter final : public Ticker {
 public:
  ProgressReporter(const Options& options, TracedProcesses& processes, CaptureRecord& record,
                   CaptureOutput& output, EventPump& pump)
      : flush_period_ns_(static_cast<std::uint64_t>(options.flush_period.count())),
        processes_(&processes),
        record_(&record),
        output_(&output),
        pump_(&pump) {}

  void on_open(std::uint64_t open_ns) override;
  Result<void> tick(const Listener& listener) override;

  std::uint64_t lost() const { return lost_; }  // as of the last second

 private:
  std::uint64_t flush_period_ns_;
  TracedProcesses* processes_;
  CaptureRecord* record_;
  CaptureOutput* output_;
  EventPump* pump_;
  std::uint64_t next_ns_ = UINT64_MAX;
  std::uint64_t next_flush_ns_ = UINT64_MAX;
  std::uint64_t lost_ = 0;
};

}  // namespace sojourn::capture
