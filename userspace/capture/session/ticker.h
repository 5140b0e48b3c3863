// A part of a capture that does periodic work. The capture's loop ticks all of its parts in turn,
// every few milliseconds; each keeps its own period and returns at once when nothing is due. The
// capture's thread owns all tickers and is the only one that calls them.
#pragma once

#include <cstdint>

#include "analysis/base/result.h"
#include "userspace/capture/session/capture_options.h"

namespace sojourn::capture {

class Ticker {
 public:
  Ticker() = default;
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;
  virtual ~Ticker() = default;

  // The open mark has been set, and has passed.
  virtual void on_open(std::uint64_t open_ns) { (void)open_ns; }

  virtual Result<void> tick(const Listener& listener) = 0;
};

}  // namespace sojourn::capture
