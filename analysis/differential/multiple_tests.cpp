#include "analysis/differential/multiple_tests.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace sojourn::differential {
namespace {

std::vector<std::size_t> ascending(std::span<const double> p_values) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t at) { return p_values[at]; });
  return order;
}

}  // namespace

std::vector<double> holm(std::span<const double> p_values) {
  const auto order = ascending(p_values);
  std::vector<double> adjusted(p_values.size());
  double least = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const auto others = static_cast<double>(order.size() - rank);
    least = std::max(least, std::min(others * p_values[order[rank]], 1.0));
    adjusted[order[rank]] = least;
  }
  return adjusted;
}

std::vector<double> benjamini_hochberg(std::span<const double> p_values) {
  const auto order = ascending(p_values);
  std::vector<double> adjusted(p_values.size());
  const auto all = static_cast<double>(order.size());
  double most = 1;
  for (std::size_t rank = order.size(); rank > 0; --rank) {
    const std::size_t at = order[rank - 1];
    most = std::min(most, all / static_cast<double>(rank) * p_values[at]);
    adjusted[at] = most;
  }
  return adjusted;
}

std::vector<double> adjusted(std::span<const double> p_values, Adjustment by) {
  return by == Adjustment::kHolm ? holm(p_values) : benjamini_hochberg(p_values);
}

}  // namespace sojourn::differential
