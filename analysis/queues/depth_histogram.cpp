#include "analysis/queues/depth_histogram.h"

#include <bit>

namespace sojourn::queues {

namespace {

constexpr std::uint64_t kExact = 4096;
constexpr int kSignificantBits = 11;

std::uint64_t rounded(std::uint64_t depth) {
  const int drop = static_cast<int>(std::bit_width(depth)) - kSignificantBits;
  return drop <= 0 ? depth : depth >> drop << drop;
}

}  // namespace

void DepthHistogram::add(std::uint64_t depth, std::uint64_t span_ns) {
  if (span_ns == 0) return;
  total_ns_ += span_ns;
  weighted_ += static_cast<double>(depth) * static_cast<double>(span_ns);
  if (depth >= kExact) {
    deep_[rounded(depth)] += span_ns;
    return;
  }
  if (small_.size() <= depth) small_.resize(depth + 1);
  small_[depth] += span_ns;
}

std::uint64_t DepthHistogram::at_ns(std::uint64_t depth) const {
  if (depth < kExact) return depth < small_.size() ? small_[depth] : 0;
  const auto found = deep_.find(rounded(depth));
  return found == deep_.end() ? 0 : found->second;
}

double DepthHistogram::mean() const {
  return total_ns_ == 0 ? 0 : weighted_ / static_cast<double>(total_ns_);
}

std::uint64_t DepthHistogram::quantile(double share) const {
  const double wanted = share * static_cast<double>(total_ns_);
  double seen = 0;
  std::uint64_t last = 0;
  for (const auto& [depth, span_ns] : by_depth()) {
    seen += static_cast<double>(span_ns);
    last = depth;
    if (seen >= wanted) return depth;
  }
  return last;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> DepthHistogram::by_depth() const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
  for (std::uint64_t depth = 0; depth < small_.size(); ++depth)
    if (small_[depth] != 0) all.emplace_back(depth, small_[depth]);
  all.insert(all.end(), deep_.begin(), deep_.end());
  return all;
}

}  // namespace sojourn::queues
