// The uncertainty of a cumulative distribution. Packets that share a queue are late together, so
// the observations are blocks of time (blocks.h) and not packets. The share of packets that took
// longer than a time differs between blocks, and that shows how certain the share of the whole is.
// The interval is Wilson's, with as many observations as the blocks are worth for this share, and
// Student's t for this number of blocks. It holds for one time that was chosen beforehand
// (pointwise). Immutable.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/differential/blocks.h"

namespace sojourn::differential {

struct ShareInterval {
  double low = 0;
  double high = 1;
};

// t of the two-sided 95 % interval, without Boost.Math: good to 0.3 % from 7 degrees on.
double student_t_95_series(double freedom);

class DistributionBand {
 public:
  // `series`: the values in the order of time.
  explicit DistributionBand(std::span<const float> series);

  // The 95 % interval of the share of values that are greater. Nothing with too little data.
  std::optional<ShareInterval> above(double value) const;

  std::size_t blocks() const { return blocks_.size(); }

 private:
  std::vector<std::vector<float>> blocks_;  // each sorted
  std::size_t length_ = 0;
  double effective_ = 0;
  double greatest_ = 0;
};

}  // namespace sojourn::differential
