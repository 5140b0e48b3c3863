#include "analysis/queues/depth_series.h"

#include <algorithm>

namespace sojourn::queues {

void DepthSeries::halve() {
  for (std::size_t at = 0; at < stretches_.size(); at += 2) {
    Stretch both = stretches_[at];
    if (at + 1 < stretches_.size()) {
      both.weighted_ns += stretches_[at + 1].weighted_ns;
      both.covered_ns += stretches_[at + 1].covered_ns;
      both.max = std::max(both.max, stretches_[at + 1].max);
    }
    stretches_[at / 2] = both;
  }
  stretches_.resize((stretches_.size() + 1) / 2);
  stretch_ns_ *= 2;
}

void DepthSeries::add(std::uint64_t depth, std::uint64_t from_ns, std::uint64_t to_ns) {
  if (stretches_.empty()) begin_ns_ = from_ns;
  if (to_ns <= from_ns || from_ns < begin_ns_) return;
  // A damaged file may hold any time.
  while ((to_ns - 1 - begin_ns_) / stretch_ns_ >= kMaxStretches) halve();
  const std::size_t last = (to_ns - 1 - begin_ns_) / stretch_ns_;
  if (last >= stretches_.size()) stretches_.resize(last + 1);
  for (std::size_t at = (from_ns - begin_ns_) / stretch_ns_; at <= last; ++at) {
    const std::uint64_t begin_ns = std::max(from_ns, begin_ns_ + at * stretch_ns_);
    const std::uint64_t end_ns = at == last ? to_ns : begin_ns_ + (at + 1) * stretch_ns_;
    stretches_[at].weighted_ns +=
        static_cast<double>(depth) * static_cast<double>(end_ns - begin_ns);
    stretches_[at].covered_ns += end_ns - begin_ns;
    stretches_[at].max = std::max(stretches_[at].max, depth);
  }
}

}  // namespace sojourn::queues
