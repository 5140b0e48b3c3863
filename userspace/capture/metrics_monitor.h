// Reports problems of the metrics to the user, as they come. The capture's thread owns it.
#pragma once

#include <string>

#include "userspace/capture/metrics/metrics_service.h"
#include "userspace/capture/session/ticker.h"

namespace sojourn::capture {

class MetricsMonitor final : public Ticker {
 public:
  // Null: the capture has no metrics.
  explicit MetricsMonitor(MetricsService* service) : service_(service) {}

  Result<void> tick(const Listener& listener) override {
    if (service_ != nullptr)
      for (const std::string& line : service_->take_messages()) listener.say(line);
    return {};
  }

 private:
  MetricsService* service_;
};

}  // namespace sojourn::capture
