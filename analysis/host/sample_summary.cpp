#include "analysis/host/sample_summary.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace sojourn::host {

namespace {

double median_of(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  return quantile_of_sorted(sorted, 0.5);
}

}  // namespace

double quantile_of_sorted(std::span<const double> sorted, double share) {
  if (sorted.empty()) return 0;
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  if (below + 1 >= sorted.size()) return sorted.back();
  const double part = at - static_cast<double>(below);
  return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

SampleSummary summarise(std::vector<double> samples) {
  std::erase_if(samples, [](double sample) { return !std::isfinite(sample); });
  SampleSummary summary;
  if (samples.empty()) return summary;
  std::ranges::sort(samples);
  summary.count = samples.size();
  summary.min = samples.front();
  summary.q1 = quantile_of_sorted(samples, 0.25);
  summary.median = quantile_of_sorted(samples, 0.5);
  summary.q3 = quantile_of_sorted(samples, 0.75);
  summary.max = samples.back();
  const std::size_t cut = samples.size() / 10;
  const auto kept = std::span<const double>(samples).subspan(cut, samples.size() - 2 * cut);
  const auto size = static_cast<double>(kept.size());
  summary.mean = std::accumulate(kept.begin(), kept.end(), 0.0) / size;
  if (kept.size() < 2) return summary;
  double squares = 0;
  for (const double sample : kept) squares += (sample - summary.mean) * (sample - summary.mean);
  summary.stdev = std::sqrt(squares / (size - 1));
  return summary;
}

std::string why_unstable(std::span<const double> samples, double resolution) {
  if (samples.size() < kFewestSamples)
    return fmt::format("only {} samples of at least {}", samples.size(), kFewestSamples);
  const SampleSummary all = summarise({samples.begin(), samples.end()});
  if (all.median == 0) return {};
  const bool is_spread = all.q3 - all.q1 > resolution;
  if (is_spread && std::abs(all.spread()) > kStableSpread)
    return fmt::format("the middle half of the samples spreads by {:.0f} %",
                       std::abs(all.spread()) * 100);
  const std::size_t half = samples.size() / 2;
  const double moved = std::abs(median_of(samples.first(half)) - median_of(samples.last(half)));
  const double drift = moved / std::abs(all.median);
  if (moved > resolution && drift > kStableDrift)
    return fmt::format("the two halves of the run differ by {:.0f} %", drift * 100);
  return {};
}

}  // namespace sojourn::host
