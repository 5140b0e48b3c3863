// Checks once a second that the helper processes of a capture are alive, because a user may have
// killed them. Without the probe keeper no point is hit any more, so the capture ends. Without the
// privileged helper it goes on as far as it can. The capture's thread owns it.
#pragma once

#include <cstdint>

#include "userspace/capture/session/capture_record.h"
#include "userspace/capture/session/source_set.h"
#include "userspace/capture/session/ticker.h"

namespace sojourn::capture {

class HelperMonitor final : public Ticker {
 public:
  HelperMonitor(const SourceSet& sources, CaptureRecord& record)
      : sources_(&sources), record_(&record) {}

  void on_open(std::uint64_t open_ns) override;
  Result<void> tick(const Listener& listener) override;

 private:
  const SourceSet* sources_;
  CaptureRecord* record_;
  std::uint64_t next_ns_ = UINT64_MAX;
  std::uint64_t probes_seen_ns_ = 0;
  bool has_said_no_helper_ = false;
};

}  // namespace sojourn::capture
