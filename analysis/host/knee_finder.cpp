#include "analysis/host/knee_finder.h"

#include <algorithm>
#include <cmath>

namespace sojourn::host {

namespace {

constexpr double kRise = 0.22;       // doublings of y for a doubling of x: a rise, no plateau
constexpr double kWholeRise = 0.42;  // doublings of y from plateau to plateau (a third more)
constexpr double kSaddle = 0.4;      // of both peaks beside it: two rises that touch

// The rising curve that is nearest to the samples by squares (pool adjacent violators).
std::vector<double> rising(const std::vector<double>& values) {
  struct Pool {
    double sum;
    std::size_t count;
    double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<Pool> pools;
  for (const double value : values) {
    pools.push_back({value, 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
      pools[pools.size() - 2].sum += pools.back().sum;
      pools[pools.size() - 2].count += pools.back().count;
      pools.pop_back();
    }
  }
  std::vector<double> result;
  for (const Pool& pool : pools) result.insert(result.end(), pool.count, pool.mean());
  return result;
}

// A run of intervals, from the first up to but without the last.
struct Span {
  std::size_t first;
  std::size_t last;
};

// Two rises that touch have a saddle between their steepest places.
void split_at_saddles(const std::vector<double>& slopes, Span span, std::vector<Span>& into) {
  std::size_t best = 0;
  double depth = kSaddle;
  for (std::size_t at = span.first + 1; at + 1 < span.last; ++at) {
    const auto begin = slopes.begin();
    const auto offset = [](std::size_t index) { return static_cast<std::ptrdiff_t>(index); };
    const double left = *std::max_element(begin + offset(span.first), begin + offset(at));
    const double right = *std::max_element(begin + offset(at + 1), begin + offset(span.last));
    const double share = slopes[at] / std::min(left, right);
    if (share >= depth) continue;
    depth = share;
    best = at;
  }
  if (best == 0) {
    into.push_back(span);
    return;
  }
  split_at_saddles(slopes, {span.first, best}, into);
  split_at_saddles(slopes, {best + 1, span.last}, into);
}

}  // namespace

std::vector<Knee> find_knees(std::span<const CurvePoint> curve) {
  std::vector<double> xs;
  std::vector<double> ys;
  for (const CurvePoint& point : curve) {
    if (!(point.x > 0) || !(point.y > 0) || (!xs.empty() && point.x <= xs.back())) continue;
    xs.push_back(point.x);
    ys.push_back(std::log2(point.y));
  }
  if (xs.size() < 3) return {};
  const std::vector<double> heights = rising(ys);
  std::vector<double> slopes;
  for (std::size_t at = 0; at + 1 < xs.size(); ++at)
    slopes.push_back((heights[at + 1] - heights[at]) / std::log2(xs[at + 1] / xs[at]));
  std::vector<Span> rises;
  for (std::size_t at = 0; at < slopes.size();) {
    if (slopes[at] < kRise) {
      ++at;
      continue;
    }
    Span span{at, at};
    while (span.last < slopes.size() && slopes[span.last] >= kRise) ++span.last;
    split_at_saddles(slopes, span, rises);
    at = span.last;
  }
  std::vector<Knee> knees;
  for (const Span& rise : rises) {
    const double from = heights[rise.first];
    const double to = heights[rise.last];
    if (to - from < kWholeRise) continue;
    knees.push_back({.x = xs[rise.first], .before = std::exp2(from), .after = std::exp2(to)});
  }
  return knees;
}

}  // namespace sojourn::host
