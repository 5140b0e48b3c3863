#include "analysis/statistics/depth.h"

#include <algorithm>

namespace sojourn::statistics {

void Depth::make_room() {
  lasted_ns_.resize(lasted_ns_.size() * 2);
}

double Depth::spent_ns() const {
  double spent = 0;
  for (std::size_t depth = 0; depth < lasted_ns_.size(); ++depth)
    spent += static_cast<double>(depth) * static_cast<double>(lasted_ns_[depth]);
  return spent;
}

double Depth::mean() const {
  if (last_ns_ == begin_ns_) return 0;
  return spent_ns() / static_cast<double>(last_ns_ - begin_ns_);
}

std::uint64_t Depth::quantile(double share) const {
  const auto whole = static_cast<double>(last_ns_ - begin_ns_);
  double seen = 0;
  for (std::size_t depth = 0; depth < lasted_ns_.size(); ++depth) {
    seen += static_cast<double>(lasted_ns_[depth]);
    if (lasted_ns_[depth] != 0 && seen >= share * whole) return depth;
  }
  return depth_;
}

double Depth::arrivals_times_stay() const {
  if (stays_ == 0 || last_ns_ == begin_ns_) return 0;
  const auto rate = static_cast<double>(entered_) / static_cast<double>(last_ns_ - begin_ns_);
  return rate * static_cast<double>(stayed_ns_) / static_cast<double>(stays_);
}

}  // namespace sojourn::statistics
