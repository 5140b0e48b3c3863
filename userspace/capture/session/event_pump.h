// Moves events from the sources to the sink, and counts what was kept, left out and lost. The
// capture's thread owns it. The sources, the sink and the output outlive it.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/capture_info.h"
#include "userspace/capture/output/capture_output.h"
#include "userspace/capture/output/sink.h"
#include "userspace/capture/session/source_set.h"

namespace sojourn::capture {

struct NotKept {
  std::uint64_t lost = 0;
  std::uint64_t filtered = 0;
};
NotKept not_kept(const model::Ledger& ledger);

class EventPump {
 public:
  EventPump(SourceSet& sources, Sink& sink, CaptureOutput& output)
      : sources_(&sources), sink_(&sink), output_(&output) {}

  Result<bool> poll() { return sources_->poll(); }  // true: there are more events
  void flush() { sources_->flush(); }
  std::chrono::microseconds poll_period() const { return sources_->poll_period(); }

  // Returns when everything that began before the call is in the sink, however fast more events
  // come.
  Result<void> catch_up();
  // Takes all that is left in the rings, however long the disk takes, once no more hits are added.
  Result<void> drain_rest();

  std::uint64_t events() const;        // of the targets' points, so far
  std::uint64_t other_events() const;  // of the other sources
  // Events that the sources took and the sink did not keep.
  struct GivenUp {
    std::uint64_t events = 0;
    std::uint64_t other_events = 0;
  };
  GivenUp given_up() const;
  Result<model::Ledger> losses() const;
  // All hits, kept or not.
  Result<std::vector<std::uint64_t>> hits_by_point();

 private:
  Result<bool> poll_with_room();  // waits for the sink if that is behind

  SourceSet* sources_;
  Sink* sink_;
  CaptureOutput* output_;
};

}  // namespace sojourn::capture
