#include "analysis/differential/comparison.h"

#include <algorithm>
#include <cmath>

#include "analysis/differential/anderson_darling.h"
#include "analysis/differential/blocks.h"
#include "analysis/differential/multiple_tests.h"

namespace sojourn::differential {
namespace {

std::size_t count_of(Runs runs) {
  std::size_t count = 0;
  for (const auto& run : runs) count += run.size();
  return count;
}

double figure_of(std::vector<float>& values, double share) {
  return share == kMean ? mean(std::span<const float>(values)) : quantile(values, share);
}

std::vector<float> joined(Runs runs) {
  std::vector<float> all;
  all.reserve(count_of(runs));
  for (const auto& run : runs) all.insert(all.end(), run.begin(), run.end());
  return all;
}

// A value for each unit: its mean, or a quantile of it. `length` is the length of blocks.
std::vector<double> figures_of(Runs runs, Unit unit, std::size_t length, double share) {
  std::vector<double> figures;
  for (const auto& run : runs) {
    if (run.empty()) continue;
    const Blocks blocks = blocks_of_length(run, unit == Unit::kRun ? run.size() : length);
    for (std::size_t block = 0; block < blocks.count; ++block) {
      const auto part = blocks.of(run, block);
      std::vector<float> values(part.begin(), part.end());
      figures.push_back(figure_of(values, share));
    }
  }
  if (unit == Unit::kBlock && figures.size() < kMinBlocks) return {};
  return figures;
}

double effective_of(Runs runs) {
  double sum = 0;
  for (const auto& run : runs) sum += effective_size(run).count;
  return sum;
}

}  // namespace

const Shift* Comparison::shift(double share) const {
  const auto found = std::ranges::find(shifts, share, &Shift::share);
  return found == shifts.end() ? nullptr : &*found;
}

Comparison compare(Runs base, Runs now, Unit unit, std::span<const double> shares) {
  Comparison found;
  found.base_count = count_of(base);
  found.now_count = count_of(now);
  found.base_effective = effective_of(base);
  found.now_effective = effective_of(now);
  const std::size_t length =
      unit == Unit::kRun ? 1 : std::max(common_block_length(base), common_block_length(now));
  const std::vector<std::vector<double>> means = {figures_of(base, unit, length, kMean),
                                                  figures_of(now, unit, length, kMean)};
  found.base_units = means[0].size();
  found.now_units = means[1].size();
  if (found.base_units >= 2 && found.now_units >= 2) {
    if (const auto tested = anderson_darling(means)) found.p = p_value(means, *tested).midrank;
  }
  if (found.base_count == 0 || found.now_count == 0) return found;
  std::vector<float> all_base = joined(base);
  std::vector<float> all_now = joined(now);
  for (const double share : shares) {
    Shift shift = {.share = share,
                   .base = figure_of(all_base, share),
                   .now = figure_of(all_now, share),
                   .half = std::nullopt};
    const auto base_error = mean_error(figures_of(base, unit, length, share));
    const auto now_error = mean_error(figures_of(now, unit, length, share));
    if (base_error && now_error) shift.half = half_interval_of_difference(*base_error, *now_error);
    found.shifts.push_back(shift);
  }
  return found;
}

bool Comparison::is_below_resolution() const {
  const Shift* const mean = shift(kMean);
  return mean != nullptr && std::abs(mean->by()) <= resolution_ns;
}

void judge(std::span<Comparison> all, double level) {
  std::vector<double> p_values;
  for (const Comparison& each : all)
    if (each.p) p_values.push_back(*each.p);
  const auto adjusted = holm(p_values);
  std::size_t next = 0;
  for (Comparison& each : all) {
    if (!each.p) continue;
    each.adjusted_p = adjusted[next++];
    const double least = smallest_p(each.base_units, each.now_units, false);
    const bool can_show = static_cast<double>(p_values.size()) * least <= level;
    if (each.adjusted_p <= level)
      each.verdict = Verdict::kChanged;
    else
      each.verdict = can_show ? Verdict::kSame : Verdict::kTooLittle;
  }
}

std::size_t runs_needed(std::size_t tests, double level) {
  constexpr std::size_t kMost = 100;
  std::size_t runs = 2;
  while (runs<kMost&& static_cast<double>(tests) * smallest_p(runs, runs, false)> level) ++runs;
  return runs;
}

}  // namespace sojourn::differential
