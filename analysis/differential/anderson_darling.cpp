#include "analysis/differential/anderson_darling.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sojourn::differential {
namespace {

struct Statistic {
  double continuous = 0;
  double midrank = 0;
};

// All values in order, and which sample each is of.
class Pool {
 public:
  explicit Pool(Samples samples) : sizes_(samples.size()) {
    std::vector<std::pair<double, std::uint32_t>> values;
    for (std::uint32_t sample = 0; sample < samples.size(); ++sample) {
      sizes_[sample] = samples[sample].size();
      for (const double value : samples[sample]) values.emplace_back(value, sample);
    }
    std::ranges::sort(values);
    for (std::size_t at = 0; at < values.size(); ++at) {
      owners_.push_back(values[at].second);
      if (at + 1 == values.size() || values[at].first != values[at + 1].first)
        ends_.push_back(at + 1);
    }
  }

  std::size_t size() const { return owners_.size(); }
  const std::vector<std::size_t>& sizes() const { return sizes_; }
  const std::vector<std::uint32_t>& owners() const { return owners_; }

  // The statistic if the values, in order, belonged to these samples.
  Statistic of(std::span<const std::uint32_t> owners) const {
    const auto all = static_cast<double>(size());
    std::vector<double> continuous(sizes_.size());
    std::vector<double> midrank(sizes_.size());
    std::vector<double> below(sizes_.size());
    std::size_t begin = 0;
    for (const std::size_t end : ends_) {
      const auto equal = static_cast<double>(end - begin);
      std::vector<double> until = below;
      for (std::size_t at = begin; at < end; ++at) ++until[owners[at]];
      const auto passed = static_cast<double>(end);
      const double middle = static_cast<double>(begin) + equal / 2;
      const double spread = passed * (all - passed);
      const double spread_of_middle = middle * (all - middle) - all * equal / 4;
      for (std::size_t sample = 0; sample < sizes_.size(); ++sample) {
        const auto size_of = static_cast<double>(sizes_[sample]);
        const double off = all * until[sample] - size_of * passed;
        const double middle_of = (below[sample] + until[sample]) / 2;
        const double off_middle = all * middle_of - size_of * middle;
        if (spread > 0) continuous[sample] += equal * off * off / spread;
        if (spread_of_middle > 0)
          midrank[sample] += equal * off_middle * off_middle / spread_of_middle;
      }
      below = std::move(until);
      begin = end;
    }
    Statistic sum;
    for (std::size_t sample = 0; sample < sizes_.size(); ++sample) {
      sum.continuous += continuous[sample] / static_cast<double>(sizes_[sample]);
      sum.midrank += midrank[sample] / static_cast<double>(sizes_[sample]);
    }
    return {.continuous = sum.continuous / all, .midrank = sum.midrank * (all - 1) / (all * all)};
  }

 private:
  std::vector<std::size_t> sizes_;
  std::vector<std::uint32_t> owners_;
  std::vector<std::size_t> ends_;  // of runs of equal values
};

// The paper's equation 4.
double stdev_of(const std::vector<std::size_t>& sizes, std::size_t total) {
  if (total < 4) return 0;
  const auto n = static_cast<double>(total);
  const auto k = static_cast<double>(sizes.size());
  double inverse_sizes = 0;
  for (const std::size_t size : sizes) inverse_sizes += 1 / static_cast<double>(size);
  double h = 0;
  for (std::size_t i = 1; i < total; ++i) h += 1 / static_cast<double>(i);
  double g = 0;
  double above = 0;
  for (std::size_t i = total - 2; i > 0; --i) {
    above += 1 / static_cast<double>(i + 1);
    g += above / static_cast<double>(total - i);
  }
  const double a = (4 * g - 6) * (k - 1) + (10 - 6 * g) * inverse_sizes;
  const double b =
      (2 * g - 4) * k * k + 8 * h * k + (2 * g - 14 * h - 4) * inverse_sizes - 8 * h + 4 * g - 6;
  const double c =
      (6 * h + 2 * g - 2) * k * k + (4 * h - 4 * g + 6) * k + (2 * h - 6) * inverse_sizes + 4 * h;
  const double d = (2 * h + 6) * k * k - 4 * h * k;
  const double variance = (((a * n + b) * n + c) * n + d) / ((n - 1) * (n - 2) * (n - 3));
  return std::sqrt(std::max(variance, 0.0));
}

// The number of ways in which values can be dealt out to samples of these sizes; infinity if it is
// more than a double holds.
double deals(const std::vector<std::size_t>& sizes) {
  double ways = 1;
  std::size_t dealt = 0;
  for (const std::size_t size : sizes)
    for (std::size_t at = 1; at <= size; ++at)
      ways *= static_cast<double>(++dealt) / static_cast<double>(at);
  return ways;
}

PValue exact_p(const Pool& pool, const AndersonDarling& found) {
  // Rounding must not make an equally extreme deal seem less extreme.
  constexpr double kTolerance = 1e-9;
  std::vector<std::uint32_t> owners = pool.owners();
  std::ranges::sort(owners);
  double ways = 0;
  double as_continuous = 0;
  double as_midrank = 0;
  do {
    const Statistic other = pool.of(owners);
    ++ways;
    if (other.continuous >= found.continuous - kTolerance) ++as_continuous;
    if (other.midrank >= found.midrank - kTolerance) ++as_midrank;
  } while (std::ranges::next_permutation(owners).found);
  return {.continuous = as_continuous / ways, .midrank = as_midrank / ways, .is_exact = true};
}

}  // namespace

std::optional<AndersonDarling> anderson_darling(Samples samples) {
  if (samples.size() < 2 ||
      std::ranges::any_of(samples, [](const auto& sample) { return sample.empty(); }))
    return std::nullopt;
  const Pool pool(samples);
  const Statistic sum = pool.of(pool.owners());
  return AndersonDarling{.continuous = sum.continuous,
                         .midrank = sum.midrank,
                         .stdev = stdev_of(pool.sizes(), pool.size()),
                         .samples = samples.size()};
}

PValue p_value(Samples samples, const AndersonDarling& found, std::uint64_t max_deals) {
  const Pool pool(samples);
  if (deals(pool.sizes()) <= static_cast<double>(max_deals)) return exact_p(pool, found);
  if (found.stdev == 0) return {};
  const std::size_t order = samples.size() - 1;
  const auto mean = static_cast<double>(order);
  constexpr double kPi = 3.14159265358979323846;
  const double limit_stdev = std::sqrt(2 * mean * (kPi * kPi / 3 - 3));
  const auto p = [&](double a2) {
    return anderson_darling_limit(mean + found.standardised(a2) * limit_stdev, order);
  };
  return {.continuous = p(found.continuous), .midrank = p(found.midrank), .is_exact = false};
}

double smallest_p(std::size_t first, std::size_t second, bool is_one_sided) {
  return std::min((is_one_sided ? 1.0 : 2.0) / deals({first, second}), 1.0);
}

}  // namespace sojourn::differential
