// Metrics of a running capture: the thread that computes them from the feed, and the outlets that
// the user asked for. The capture's thread owns it.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "userspace/capture/metrics/influx_options.h"
#include "userspace/capture/metrics/influx_sender.h"
#include "userspace/capture/metrics/metrics_server.h"
#include "userspace/capture/metrics/metrics_thread.h"
#include "userspace/capture/rights/rights.h"
#include "userspace/capture/stream/block_feed.h"
#include "userspace/files/stream_address.h"

namespace sojourn::capture {

struct MetricsOptions {
  std::optional<files::StreamAddress> address;  // for Prometheus
  std::optional<InfluxOptions> influx;
  std::size_t ues = 0;  // UEs that have figures of their own

  bool is_wanted() const { return address.has_value() || influx.has_value(); }
};

class MetricsService {
 public:
  // The feed must outlive it.
  static Result<std::unique_ptr<MetricsService>> start(const MetricsOptions& options,
                                                       BlockFeed& feed,
                                                       std::chrono::nanoseconds flush_period,
                                                       const FileOwner& owner);

  std::optional<std::string> address() const;  // "tcp://127.0.0.1:9464"; empty: there is no server
  std::vector<std::string> take_messages();

  // Called when the feed has finished. Returns the totals of InfluxDB; empty: it was not asked for.
  std::optional<InfluxSender::Totals> finish();

 private:
  MetricsService() = default;

  std::unique_ptr<MetricsServer> server_;
  std::unique_ptr<InfluxSender> influx_;
  std::unique_ptr<MetricsThread> thread_;
};

}  // namespace sojourn::capture
