// A way for events to leave the target. A capture has one or several and treats them alike; each
// writes streams of its own to the capture's sink. One thread owns an Engine; destroying it leaves
// the target untraced.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/model/capture.h"

namespace sojourn::capture {

class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  // Afterwards every site is ready, and still nothing counts.
  virtual Result<void> arm() = 0;

  // Hits with open <= stamp < close count. Both are set ahead of time.
  virtual void open_at(std::uint64_t monotonic_ns) = 0;
  virtual void close_at(std::uint64_t monotonic_ns) = 0;

  // Returns when every hit that began before the close has left its trace, or is known to.
  virtual Result<void> settle() = 0;

  // Takes what is there. True: there is more, come again at once.
  virtual Result<bool> poll() = 0;
  virtual void flush() = 0;  // hands over what is not a full batch yet
  virtual std::chrono::microseconds poll_period() const = 0;  // until the next look

  // Takes the probes off, where that is quick; else only destroying does.
  virtual void disarm() = 0;
  virtual bool is_armed() const = 0;

  virtual Result<void> add_losses(model::Ledger& ledger) const = 0;
  virtual Result<void> add_hits(std::vector<std::uint64_t>& hits) const = 0;  // by stream
  virtual std::uint64_t events() const = 0;

  virtual std::size_t sites() const = 0;
  virtual std::string mechanism() const = 0;  // for the trace's metadata
  virtual std::uint64_t stamp_error_ns() const { return 0; }

  // When the first event may have been, for a target that recorded before the capture.
  virtual std::uint64_t earliest_ns() const { return UINT64_MAX; }
};

}  // namespace sojourn::capture
