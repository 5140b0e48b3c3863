// The way of the events from the sources to the sink, and what became of all that happened: kept,
// left out, lost. The capture's thread owns it. The sources, the sink and the output outlive it.
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

  Result<bool> poll() { return sources_->poll(); }  // true: there is more
  void flush() { sources_->flush(); }
  std::chrono::microseconds poll_period() const { return sources_->poll_period(); }

  // Everything that began before now is in the sink afterwards, however fast more comes.
  Result<void> catch_up();
  // Takes what is still in the rings, whatever time the disk needs. Nothing comes any more.
  Result<void> drain_rest();

  std::uint64_t events() const;        // of the targets' points, so far
  std::uint64_t other_events() const;  // of the other sources
  // Of what the sources took, what the sink did not keep.
  struct GivenUp {
    std::uint64_t events = 0;
    std::uint64_t other_events = 0;
  };
  GivenUp given_up() const;
  Result<model::Ledger> losses() const;
  // Everything that was hit, kept or not.
  Result<std::vector<std::uint64_t>> hits_by_point();

 private:
  Result<bool> poll_with_room();  // waits for the disk where it is behind

  SourceSet* sources_;
  Sink* sink_;
  CaptureOutput* output_;
};

}  // namespace sojourn::capture
