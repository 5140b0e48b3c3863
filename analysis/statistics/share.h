// A share, and its 95 % confidence interval (Wilson's score interval, which also holds for few
// samples and for none).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace sojourn::statistics {

// 95 % of a normal distribution are within this many standard deviations.
inline constexpr double kDeviations95 = 1.959964;

struct Share {
  double share = 0;
  double low = 0;
  double high = 1;
};

inline Share share_of(std::uint64_t some, std::uint64_t of) {
  if (of == 0) return {};
  const auto n = static_cast<double>(of);
  const double p = static_cast<double>(some) / n;
  constexpr double kSquare = kDeviations95 * kDeviations95;
  const double middle = (p + kSquare / (2 * n)) / (1 + kSquare / n);
  const double half =
      kDeviations95 / (1 + kSquare / n) * std::sqrt(p * (1 - p) / n + kSquare / (4 * n * n));
  return {p, some == 0 ? 0 : std::max(0.0, middle - half),
          some == of ? 1 : std::min(1.0, middle + half)};
}

}  // namespace sojourn::statistics
