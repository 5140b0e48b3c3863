#include "userspace/capture/metrics/metrics_service.h"

#include <utility>

namespace sojourn::capture {

Result<std::unique_ptr<MetricsService>> MetricsService::start(const MetricsOptions& options,
                                                              BlockFeed& feed,
                                                              std::chrono::nanoseconds flush_period,
                                                              const FileOwner& owner) {
  std::unique_ptr<MetricsService> service(new MetricsService);
  std::vector<MetricsOutlet*> outlets;
  if (options.address) {
    SJ_TRY(server, MetricsServer::start(*options.address, owner));
    service->server_ = std::move(server);
    outlets.push_back(service->server_.get());
  }
  if (options.influx) {
    SJ_TRY(influx, InfluxSender::start(*options.influx, owner));
    service->influx_ = std::move(influx);
    outlets.push_back(service->influx_.get());
  }
  SJ_TRY(thread, MetricsThread::start(feed, flush_period, options.ues, std::move(outlets), owner));
  service->thread_ = std::move(thread);
  return service;
}

std::optional<std::string> MetricsService::address() const {
  return server_ ? std::optional(server_->address().text()) : std::nullopt;
}

std::vector<std::string> MetricsService::take_messages() {
  return influx_ ? influx_->take_messages() : std::vector<std::string>();
}

std::optional<InfluxSender::Totals> MetricsService::finish() {
  if (!influx_) return std::nullopt;
  thread_->finish();
  return influx_->finish();
}

}  // namespace sojourn::capture
