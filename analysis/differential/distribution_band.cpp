#include "analysis/differential/distribution_band.h"

#include <algorithm>
#include <cmath>

namespace sojourn::differential {

// Fisher's expansion around the normal distribution.
double student_t_95_series(double freedom) {
  constexpr double z = 1.959963984540054;
  const double z2 = z * z;
  return z *
         (1 + (z2 + 1) / (4 * freedom) + (5 * z2 * z2 + 16 * z2 + 3) / (96 * freedom * freedom) +
          (3 * z2 * z2 * z2 + 19 * z2 * z2 + 17 * z2 - 15) / (384 * freedom * freedom * freedom));
}

DistributionBand::DistributionBand(std::span<const float> series) {
  const EffectiveSize size = effective_size(series);
  const auto blocks = independent_blocks(series, size);
  if (!blocks) return;
  effective_ = size.count;
  length_ = blocks->length;
  for (std::size_t at = 0; at < blocks->count; ++at) {
    const std::span<const float> block = blocks->of(series, at);
    std::ranges::sort(blocks_.emplace_back(block.begin(), block.end()));
    greatest_ = std::max(greatest_, static_cast<double>(blocks_.back().back()));
  }
}

std::optional<ShareInterval> DistributionBand::above(double value) const {
  if (blocks_.empty()) return std::nullopt;
  std::vector<double> shares;
  shares.reserve(blocks_.size());
  for (const std::vector<float>& block : blocks_) {
    const auto greater = block.end() - std::ranges::upper_bound(block, static_cast<float>(value));
    shares.push_back(static_cast<double>(greater) / static_cast<double>(block.size()));
  }
  const double share = mean(shares);
  // No value exceeds the maximum, so the interval is that of the values that are equal to it.
  if (share == 0 && value >= greatest_) {
    const auto at_greatest = above(std::nextafter(static_cast<float>(greatest_), 0.F));
    return ShareInterval{.low = 0, .high = at_greatest->high};
  }
  const auto of_mean = mean_error(shares);
  const auto packets = static_cast<double>(length_ * blocks_.size());
  // If all blocks agree, as in a tail that none of them has, they do not show the uncertainty.
  double count = effective_;
  if (of_mean && of_mean->variance_of_mean > 0)
    count = std::min(share * (1 - share) / of_mean->variance_of_mean, packets);
  const double t = student_t_95_series(static_cast<double>(blocks_.size() - 1));
  const double squared = t * t / count;
  const double centre = (share + squared / 2) / (1 + squared);
  const double half =
      t / (1 + squared) * std::sqrt(share * (1 - share) / count + squared / (4 * count));
  return ShareInterval{.low = std::max(centre - half, 0.0), .high = std::min(centre + half, 1.0)};
}

}  // namespace sojourn::differential
