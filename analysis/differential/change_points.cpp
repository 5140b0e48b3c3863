#include "analysis/differential/change_points.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>

namespace sojourn::differential {
namespace {

constexpr std::size_t kAllOrders = 7;  // values whose orders are all tried: 5,040
constexpr std::size_t kRandomOrders = 9'999;

struct Split {
  std::size_t at = 0;
  double statistic = 0;
};

// Doubled, so that equal values share the middle of their ranks without fractions.
std::vector<std::int64_t> twice_ranks(std::span<const double> values) {
  std::vector<std::int64_t> ranks;
  ranks.reserve(values.size());
  for (const double value : values) {
    const auto below = std::ranges::count_if(values, [&](double other) { return other < value; });
    const auto equal = std::ranges::count(values, value);
    ranks.push_back(2 * below + equal + 1);
  }
  return ranks;
}

// The split whose sides differ most by rank, in standard deviations of Mann and Whitney's U.
Split strongest_split(std::span<const std::int64_t> ranks) {
  const auto all = static_cast<double>(ranks.size());
  Split strongest;
  double sum = 0;
  for (std::size_t at = 1; at < ranks.size(); ++at) {
    sum += static_cast<double>(ranks[at - 1]) / 2;
    const auto left = static_cast<double>(at);
    const double off = std::abs(sum - left * (all + 1) / 2);
    const double statistic = off / std::sqrt(left * (all - left) * (all + 1) / 12);
    if (statistic > strongest.statistic + 1e-9) strongest = {.at = at, .statistic = statistic};
  }
  return strongest;
}

// The p-value of a split. For a split that is no change at this level it may be any value above
// `level`.
double p_of_split(std::vector<std::int64_t> ranks, double statistic, double level) {
  constexpr double kTolerance = 1e-9;  // rounding must not make an equal order a lesser one
  const auto is_as_strong = [&] {
    return strongest_split(ranks).statistic >= statistic - kTolerance;
  };
  std::size_t as_strong = 0;
  std::size_t orders = 0;
  if (ranks.size() <= kAllOrders) {
    std::ranges::sort(ranks);
    do {
      ++orders;
      as_strong += is_as_strong() ? 1 : 0;
    } while (std::ranges::next_permutation(ranks).found);
    return static_cast<double>(as_strong) / static_cast<double>(orders);
  }
  std::minstd_rand random(20'241);
  const double most = level * static_cast<double>(kRandomOrders + 1);
  for (; orders < kRandomOrders; ++orders) {
    if (static_cast<double>(as_strong + 1) > most) return 1;
    for (std::size_t left = ranks.size(); left > 1; --left)
      std::swap(ranks[left - 1], ranks[random() % left]);
    as_strong += is_as_strong() ? 1 : 0;
  }
  return static_cast<double>(as_strong + 1) / static_cast<double>(orders + 1);
}

double median_of(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

void find_changes(std::span<const double> series, std::size_t offset, double level,
                  std::vector<ChangePoint>& found) {
  if (series.size() < kFewestForChange) return;
  const auto ranks = twice_ranks(series);
  const Split split = strongest_split(ranks);
  if (split.at == 0) return;  // all values are equal
  const double p = p_of_split(ranks, split.statistic, level);
  if (p > level) return;
  find_changes(series.first(split.at), offset, level, found);
  found.push_back({.at = offset + split.at, .p = p});
  find_changes(series.subspan(split.at), offset + split.at, level, found);
}

}  // namespace

std::vector<ChangePoint> change_points(std::span<const double> series, double level) {
  std::vector<ChangePoint> found;
  find_changes(series, 0, level, found);
  // A split that was found while another change was still in the series lies between the two.
  for (std::size_t at = 0; at < found.size(); ++at) {
    const std::size_t begin = at == 0 ? 0 : found[at - 1].at;
    const std::size_t end = at + 1 < found.size() ? found[at + 1].at : series.size();
    const auto part = series.subspan(begin, end - begin);
    if (const Split split = strongest_split(twice_ranks(part)); split.at != 0)
      found[at].at = begin + split.at;
  }
  for (std::size_t at = 0; at < found.size(); ++at) {
    const std::size_t begin = at == 0 ? 0 : found[at - 1].at;
    const std::size_t end = at + 1 < found.size() ? found[at + 1].at : series.size();
    found[at].before = median_of(series.subspan(begin, found[at].at - begin));
    found[at].after = median_of(series.subspan(found[at].at, end - found[at].at));
  }
  return found;
}

std::size_t values_for_change(double level) {
  constexpr std::size_t kMost = 40;
  for (std::size_t values = kFewestForChange; values < kMost; ++values) {
    std::vector<double> series(values, 0.0);
    std::iota(series.begin() + static_cast<std::ptrdiff_t>(values / 2), series.end(), 1e6);
    std::iota(series.begin(), series.begin() + static_cast<std::ptrdiff_t>(values / 2), 0.0);
    if (!change_points(series, level).empty()) return values;
  }
  return kMost;
}

}  // namespace sojourn::differential
