// Reports that events are being lost, and why, while the user can still do something about it. The
// capture's thread owns it; what it refers to outlives it.
#pragma once

#include <cstdint>

#include "userspace/capture/output/sink.h"
#include "userspace/capture/session/capture_record.h"
#include "userspace/capture/session/event_pump.h"
#include "userspace/capture/session/ticker.h"

namespace sojourn::capture {

class LossMonitor final : public Ticker {
 public:
  LossMonitor(const CaptureRecord& record, const Sink& sink, const EventPump& pump)
      : record_(&record), sink_(&sink), pump_(&pump) {}

  Result<void> tick(const Listener& listener) override;

 private:
  const CaptureRecord* record_;
  const Sink* sink_;
  const EventPump* pump_;
  std::uint64_t reported_ = 0;
  std::uint64_t next_look_ns_ = 0;
  std::uint64_t next_word_ns_ = 0;
  bool was_behind_ = false;  // the sink, since the last look
};

}  // namespace sojourn::capture
