// A receiver of a running capture's figures: a server that is scraped, or InfluxDB. It gets all
// figures each time there are new ones.
#pragma once

#include <optional>
#include <vector>

#include "analysis/metrics/exposition.h"
#include "analysis/model/capture_info.h"

namespace sojourn::capture {

class MetricsOutlet {
 public:
  MetricsOutlet() = default;
  MetricsOutlet(const MetricsOutlet&) = delete;
  MetricsOutlet& operator=(const MetricsOutlet&) = delete;
  virtual ~MetricsOutlet() = default;

  // Adds figures about the outlet itself.
  virtual void add_to(std::vector<metrics::Family>& families) { (void)families; }
  // Called by the thread that follows the capture, so it must not block. `is_last`: the capture has
  // ended, and this is the last call.
  virtual void publish(const std::vector<metrics::Family>& families,
                       const std::optional<model::ClockPair>& clock, bool is_last) = 0;
};

}  // namespace sojourn::capture
