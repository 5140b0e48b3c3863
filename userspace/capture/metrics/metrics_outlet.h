// Where the figures of a running capture go whenever there are new ones.
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

  // Adds figures of its own.
  virtual void add_to(std::vector<metrics::Family>& families) { (void)families; }
  // Called by the thread that follows the capture: waits for nobody. `is_last`: the capture has
  // ended, and no more will come.
  virtual void publish(const std::vector<metrics::Family>& families,
                       const std::optional<model::ClockPair>& clock, bool is_last) = 0;
};

}  // namespace sojourn::capture
