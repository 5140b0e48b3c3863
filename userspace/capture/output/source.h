// A source fills streams of a capture: an engine (event_engine.h), the kernel's context, the queue
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

  // Records one more process from here on, which outlives the source. False: it cannot, and the
  // process needs a source of its own.
  virtual Result<bool> add_process(const tracee::Process&) { return false; }

  // The process has ended: its pid may be reused.
  virtual void remove_process(const tracee::Process&) {}

  // Sets where its events go. Once, before it is armed. The output outlives the source.
  virtual Result<void> connect(CaptureOutput& output) = 0;

  // Prepares everything. Events do not count before the open mark.
  virtual Result<void> arm() = 0;

  // Events with open <= stamp < close count. Both marks are set ahead of time.
  virtual void open_at(std::uint64_t monotonic_ns) = 0;
  virtual void close_at(std::uint64_t monotonic_ns) = 0;

  // Called if the open mark had passed before every source knew of it. No event counts until the
  // next open_at(), and events that counted so far are forgotten. It is called before the first
  // poll() that finds events. A source that only samples has nothing to forget.
  virtual Result<void> start_over() { return {}; }

  // Returns when every hit that began before the close mark is recorded, or known to be lost.
  virtual Result<void> settle() = 0;

  // Settles every hit that began before now, while the source goes on.
  virtual Result<void> settle_so_far() { return settle(); }

  // Takes the events that are there. True: there are more, poll again at once.
  virtual Result<bool> poll() = 0;

  // Marks the newest event. A few polls get past it, however fast others follow.
  virtual void mark() = 0;
  virtual bool is_past_mark() const = 0;
  virtual void flush() = 0;  // hands over batches that are not full yet
  virtual std::chrono::microseconds poll_period() const = 0;  // between two polls

  // Removes the probes, if that is quick; else the destructor does.
  virtual void disarm() = 0;
  virtual bool is_armed() const = 0;

  virtual Result<void> add_losses(model::Ledger& ledger) const = 0;
  // Adds kept and lost hits between the marks; the index is the stream.
  virtual Result<void> add_hits(std::vector<std::uint64_t>& hits) const = 0;
  virtual std::uint64_t events() const = 0;  // kept so far

  // Returns whether it has events from before it was made, from its target's first instruction on.
  // They count as well, independent of when other sources began.
  virtual bool has_its_beginning() const { return false; }

  // Looks up slow details of the events so far, such as the names in a profile. It may be called on
  // another thread, also when the source is gone. A dump, which is finished while the source goes
  // on, needs it as well. Empty: there are no such details.
  using Description = std::function<std::vector<model::Profile>()>;
  virtual Description description() const { return {}; }
};

}  // namespace sojourn::capture
