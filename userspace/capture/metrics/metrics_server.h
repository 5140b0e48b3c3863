// Answers `GET /metrics` about a running capture, on a loopback address or a unix socket. A thread
// with only the rights of the files' owner serves the newest texts, so a scrape never waits for a
// rebuild.
#pragma once

#include <memory>

#include "analysis/base/result.h"
#include "userspace/capture/metrics/metrics_outlet.h"
#include "userspace/capture/rights/rights.h"
#include "userspace/files/stream_address.h"

namespace sojourn::capture {

class MetricsServer final : public MetricsOutlet {
 public:
  // The server listens when this returns.
  static Result<std::unique_ptr<MetricsServer>> start(files::StreamAddress address,
                                                      const FileOwner& owner);
  ~MetricsServer() override;

  void publish(const std::vector<metrics::Family>& families,
               const std::optional<model::ClockPair>& clock, bool is_last) override;
  const files::StreamAddress& address() const { return address_; }

 private:
  class Loop;
  MetricsServer(std::unique_ptr<Loop> loop, files::StreamAddress address);

  files::StreamAddress address_;
  std::unique_ptr<Loop> loop_;
};

}  // namespace sojourn::capture
