// Metrics as InfluxDB's line protocol: a measurement for each family, its labels as tags. Counters
// and gauges have the field `value`. Histograms have `count` and `sum`, which count from the
// capture's beginning, and the quantiles of the times since the lines before. All lines have tags
// that tell one writer from others. One thread owns a LineProtocol.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "analysis/metrics/exposition.h"
#include "analysis/metrics/native_buckets.h"

namespace sojourn::metrics {

class LineProtocol {
 public:
  explicit LineProtocol(Labels tags = {}) : tags_(std::move(tags)) {}

  // `unix_ns`: the time that the lines are of.
  std::string lines(std::span<const Family> families, std::uint64_t unix_ns);

 private:
  std::string series_of(const Family& family, const Labels& labels) const;

  Labels tags_;
  std::map<std::string, NativeBuckets> before_;  // by measurement and tags
};

}  // namespace sojourn::metrics
