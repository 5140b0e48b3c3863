#include "analysis/metrics/native_buckets.h"

#include <numeric>

namespace sojourn::metrics {

NativeBuckets NativeBuckets::since(const NativeBuckets& earlier) const {
  NativeBuckets newer = *this;
  newer.zeros_ -= earlier.zeros_;
  for (std::size_t at = 0; at < kBuckets; ++at) newer.counts_[at] -= earlier.counts_[at];
  return newer;
}

std::uint64_t NativeBuckets::count() const {
  return std::accumulate(counts_.begin(), counts_.end(), zeros_);
}

double NativeBuckets::quantile_seconds(double share) const {
  const auto all = static_cast<double>(count());
  const double rank = std::max(std::ceil(share * all), 1.0);
  auto below = static_cast<double>(zeros_);
  if (all == 0 || below >= rank) return 0;
  for (std::size_t at = 0; at < kBuckets; ++at) {
    below += static_cast<double>(counts_[at]);
    if (below >= rank) return bound_seconds(kFirst + static_cast<int>(at));
  }
  return bound_seconds(kFirst + static_cast<int>(kBuckets) - 1);
}

}  // namespace sojourn::metrics
