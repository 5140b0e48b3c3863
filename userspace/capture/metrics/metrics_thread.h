// Follows a capture's feed in a thread of its own, and passes the figures to the outlets about once
// a second. The thread has only the rights of the files' owner.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/capture/metrics/metrics_outlet.h"
#include "userspace/capture/rights/rights.h"
#include "userspace/capture/stream/block_feed.h"

namespace sojourn::capture {

class MetricsThread {
 public:
  // The feed and the outlets must outlive it. `ues`: the number of UEs that have figures of their
  // own.
  static Result<std::unique_ptr<MetricsThread>> start(BlockFeed& feed,
                                                      std::chrono::nanoseconds flush_period,
                                                      std::size_t ues,
                                                      std::vector<MetricsOutlet*> outlets,
                                                      const FileOwner& owner);
  MetricsThread(const MetricsThread&) = delete;
  MetricsThread& operator=(const MetricsThread&) = delete;
  ~MetricsThread();

  // Called when the feed has finished: takes the rest of it, closes all journeys and passes on the
  // last figures.
  void finish();

 private:
  class Loop;
  explicit MetricsThread(std::unique_ptr<Loop> loop);

  std::unique_ptr<Loop> loop_;
};

}  // namespace sojourn::capture
