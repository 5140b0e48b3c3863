#include "analysis/differential/blocks.h"

#include <algorithm>
#include <cmath>

namespace sojourn::differential {
namespace {

constexpr std::size_t kMaxSlices = 1024;

double variance(std::span<const float> values, double around) {
  double squares = 0;
  for (const float value : values) {
    const double off = static_cast<double>(value) - around;
    squares += off * off;
  }
  return squares / static_cast<double>(values.size());
}

// The number of slices in a row that are worth one independent one: 1 + 2 * (the sum of
// autocorrelations). The sum ends where a pair of neighbours is no longer positive, and its terms
// never rise. Nothing if it does not end within a quarter of the series: then the series drifts.
std::optional<double> correlated_slices(std::span<const double> slices, double slice_variance) {
  const double centre = mean(slices);
  const auto correlation = [&](std::size_t lag) {
    double products = 0;
    for (std::size_t at = 0; at + lag < slices.size(); ++at)
      products += (slices[at] - centre) * (slices[at + lag] - centre);
    return products / (static_cast<double>(slices.size()) * slice_variance);
  };
  double sum = 1 + correlation(1);  // the first pair: lags 0 and 1
  double before = sum;
  for (std::size_t lag = 2; lag + 1 < slices.size() / 4; lag += 2) {
    const double pair = std::min(correlation(lag) + correlation(lag + 1), before);
    if (pair <= 0) return std::max(2 * sum - 1, 0.0);
    sum += pair;
    before = pair;
  }
  return std::nullopt;
}

}  // namespace

double mean(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value);
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double mean(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double quantile(std::vector<float>& values, double share) {
  if (values.empty()) return 0;
  const auto all = static_cast<double>(values.size());
  const auto rank = static_cast<std::size_t>(std::max(std::ceil(share * all), 1.0)) - 1;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::min(rank, values.size() - 1));
  std::ranges::nth_element(values, at);
  return static_cast<double>(*at);
}

EffectiveSize effective_size(std::span<const float> series) {
  const auto all = static_cast<double>(series.size());
  if (series.size() < 4 * kMinBlocks) return {.count = 0, .inefficiency = all};
  const std::size_t count = std::min(kMaxSlices, series.size());
  const std::size_t length = series.size() / count;
  const std::span<const float> used = series.first(count * length);
  std::vector<double> slices(count);
  for (std::size_t at = 0; at < count; ++at) slices[at] = mean(used.subspan(at * length, length));
  const double of_all = variance(used, mean(used));
  if (of_all == 0) return {.count = all, .inefficiency = 1};  // one value: all is known about it
  double of_slices = 0;
  const double centre = mean(slices);
  for (const double slice : slices) of_slices += (slice - centre) * (slice - centre);
  of_slices /= static_cast<double>(count);
  if (of_slices == 0) return {.count = all, .inefficiency = 1};
  const auto in_a_row = correlated_slices(slices, of_slices);
  if (!in_a_row) return {.count = 0, .inefficiency = all};
  const double inefficiency =
      std::max(static_cast<double>(length) * of_slices / of_all * *in_a_row, 1.0);
  return {.count = all / inefficiency, .inefficiency = inefficiency};
}

std::optional<Blocks> independent_blocks(std::span<const float> series, const EffectiveSize& size) {
  const auto count = std::min(static_cast<std::size_t>(size.count / kBlockFactor), kMaxBlocks);
  if (count < kMinBlocks) return std::nullopt;
  return Blocks{.count = count, .length = series.size() / count};
}

std::optional<MeanError> mean_error(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  const double centre = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - centre) * (value - centre);
  const auto count = static_cast<double>(values.size());
  return MeanError{
      .mean = centre, .variance_of_mean = squares / (count - 1) / count, .freedom = count - 1};
}

std::size_t common_block_length(std::span<const std::vector<float>> runs) {
  std::size_t length = 1;
  for (const auto& run : runs) {
    const double needed = std::ceil(kBlockFactor * effective_size(run).inefficiency);
    length = std::max({length, static_cast<std::size_t>(needed), run.size() / kMaxBlocks});
  }
  return length;
}

Blocks blocks_of_length(std::span<const float> series, std::size_t length) {
  return {.count = series.size() / length, .length = length};
}

}  // namespace sojourn::differential
