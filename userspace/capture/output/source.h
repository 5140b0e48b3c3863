// Whatever fills streams of a capture: an engine (event_engine.h), the kernel's context, the queue
// sampler. A capture has several and treats them alike; each writes streams of its own to the
// capture's sink. One thread owns a Source; destroying it leaves the target untraced.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/capture_info.h"
#include "analysis/model/profile_info.h"
#include "userspace/capture/output/capture_output.h"
#include "userspace/tracee/process.h"

namespace sojourn::capture {

class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  // Records of one more process from here on, which outlives the source. False: it cannot; then the
  // process wants a source of its own.
  virtual Result<bool> add_process(const tracee::Process&) { return false; }

  // The process has ended: its pid may be another's.
  virtual void remove_process(const tracee::Process&) {}

  // Where its events go; once, before it is armed. The output outlives the source.
  virtual Result<void> connect(CaptureOutput& output) = 0;

  // Afterwards everything is ready, and still nothing counts.
  virtual Result<void> arm() = 0;

  // What has open <= stamp < close counts. Both are set ahead of time.
  virtual void open_at(std::uint64_t monotonic_ns) = 0;
  virtual void close_at(std::uint64_t monotonic_ns) = 0;

  // The open mark had passed before every source knew of it: nothing counts until the next
  // open_at(), and what counted since is forgotten. Before the first poll() that finds anything. A
  // source that is not told of what happens, but looks, has nothing to forget.
  virtual Result<void> start_over() { return {}; }

  // Returns when everything that began before the close has left its trace, or is known to.
  virtual Result<void> settle() = 0;

  // The same of everything that began before now, while it goes on.
  virtual Result<void> settle_so_far() { return settle(); }

  // Takes what is there. True: there is more, come again at once.
  virtual Result<bool> poll() = 0;

  // Remembers how far its events have come by now. However fast others follow, a few looks take it
  // past that.
  virtual void mark() = 0;
  virtual bool is_past_mark() const = 0;
  virtual void flush() = 0;  // hands over what is not a full batch yet
  virtual std::chrono::microseconds poll_period() const = 0;  // until the next look

  // Takes the probes off, where that is quick; else only destroying does.
  virtual void disarm() = 0;
  virtual bool is_armed() const = 0;

  virtual Result<void> add_losses(model::Ledger& ledger) const = 0;
  // Kept and lost ones between the marks, by stream, each at its stream's place.
  virtual Result<void> add_hits(std::vector<std::uint64_t>& hits) const = 0;
  virtual std::uint64_t events() const = 0;  // kept so far

  // It holds events from before it was made, from its target's first instruction on: they count as
  // well, whatever other sources began with.
  virtual bool has_its_beginning() const { return false; }

  // What it finds out about its events only when it is asked, because that takes long: the names in
  // a profile, of what there is so far. It may be called on another thread, also when the source is
  // gone. A trace that is finished while the source goes on wants it as well. Empty: nothing.
  using Description = std::function<std::vector<model::Profile>()>;
  virtual Description description() const { return {}; }
};

}  // namespace sojourn::capture
