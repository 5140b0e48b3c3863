#include "analysis/differential/sequential_test.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace sojourn::differential {
namespace {

// The powers of Lehmann's alternatives, all with one weight: from sides that overlap by half to
// sides that are apart. tests/bench/sequential_power.cpp compares them with other bets.
constexpr std::array kPowers = {4.0, 30.0, 1e6};

// The likelihood ratio for one power of one side. Among equal values, that side's runs count as the
// lower ones.
double likelihood_ratio(std::vector<Turn>& turns, double power, bool of_new) {
  std::ranges::sort(turns, [&](const Turn& left, const Turn& right) {
    if (left.value != right.value) return left.value < right.value;
    return left.is_new == of_new && right.is_new != of_new;
  });
  double log_ratio = 0;
  double others = 0;
  double raised = 0;
  for (const Turn& turn : turns) {
    if (turn.is_new == of_new) {
      raised += 1;
      log_ratio += std::log(power);
    } else {
      others += 1;
    }
    log_ratio += std::log(others + raised) - std::log(others + power * raised);
  }
  return std::exp(log_ratio);
}

}  // namespace

double evidence(std::span<const Turn> turns) {
  std::vector<Turn> sorted(turns.begin(), turns.end());
  double sum = 0;
  for (const double power : kPowers)
    sum += likelihood_ratio(sorted, power, true) + likelihood_ratio(sorted, power, false);
  return sum / (2 * static_cast<double>(kPowers.size()));
}

double most_evidence(std::size_t base, std::size_t now) {
  std::vector<Turn> turns(base, Turn{.value = 0, .is_new = false});
  turns.resize(base + now, Turn{.value = 1, .is_new = true});
  return evidence(turns);
}

std::vector<double> adjusted_evidence(std::span<const double> all) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t at) { return all[at]; });
  std::vector<double> adjusted(all.begin(), all.end());
  for (std::size_t at = 0; at < all.size(); ++at) {
    // Averages it with the smallest others, one more each time.
    double sum = all[at];
    double count = 1;
    for (const std::size_t other : order) {
      if (other == at) continue;
      sum += all[other];
      count += 1;
      adjusted[at] = std::min(adjusted[at], sum / count);
    }
  }
  return adjusted;
}

std::size_t turns_needed(std::size_t tests, double level) {
  constexpr std::size_t kMost = 100;
  std::size_t runs = 2;
  // In the worst case all other tests show nothing at all.
  while (runs < kMost && most_evidence(runs, runs) * level < static_cast<double>(tests)) ++runs;
  return runs;
}

}  // namespace sojourn::differential
