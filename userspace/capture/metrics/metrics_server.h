// Answers `GET /metrics` about a running capture, on a loopback address or a unix socket. One
// thread follows the capture's feed and makes the texts once a second, another one serves the
// sockets with the newest of them: who asks never waits for a rebuild. Both have the rights of the
// files' owner and no others.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "analysis/base/result.h"
#include "userspace/capture/rights/rights.h"
#include "userspace/capture/stream/block_feed.h"
#include "userspace/files/stream_address.h"

namespace sojourn::capture {

class MetricsServer {
 public:
  // Listens when it returns. The feed outlives it. `ues`: how many UEs have figures of their own.
  static Result<std::unique_ptr<MetricsServer>> start(files::StreamAddress address, BlockFeed& feed,
                                                      std::chrono::nanoseconds flush_period,
                                                      std::size_t ues, const FileOwner& owner);
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;
  ~MetricsServer();

  const files::StreamAddress& address() const { return address_; }

 private:
  class Loop;
  MetricsServer(std::unique_ptr<Loop> loop, files::StreamAddress address);

  files::StreamAddress address_;
  std::unique_ptr<Loop> loop_;
};

}  // namespace sojourn::capture
