#include "analysis/differential/correlation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include <boost/math/distributions/normal.hpp>
#include <boost/math/statistics/bivariate_statistics.hpp>

#include "analysis/differential/blocks.h"

namespace sojourn::differential {
namespace {

// A coefficient of 1 has no transform: next to it there is one.
double transformed(double r) {
  constexpr double kNearest = 1 - 1e-12;
  return std::atanh(std::clamp(r, -kNearest, kNearest));
}

Correlation within(double r, double half_of_transformed) {
  const double z = transformed(r);
  return {.value = r,
          .low = std::tanh(z - half_of_transformed),
          .high = std::tanh(z + half_of_transformed)};
}

template <typename Value>
std::vector<Value> midranks_of(std::span<const Value> values) {
  std::vector<std::uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  std::ranges::sort(order, {}, [&](std::uint32_t at) { return values[at]; });
  std::vector<Value> ranks(values.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const auto rank = static_cast<double>(begin + end + 1) / 2;
    for (std::size_t at = begin; at < end; ++at) ranks[order[at]] = static_cast<Value>(rank);
  }
  return ranks;
}

template <typename Value>
bool is_constant(std::span<const Value> values) {
  return std::ranges::all_of(values, [&](Value value) { return value == values.front(); });
}

// Fisher's transform; `spread` is the variance that it has for large samples, times their size.
std::optional<Correlation> of_independent(std::span<const double> x, std::span<const double> y,
                                          double (*spread)(double)) {
  if (x.size() != y.size() || x.size() < 4 || is_constant(x) || is_constant(y)) return std::nullopt;
  const double r = boost::math::statistics::correlation_coefficient(
      std::vector<double>(x.begin(), x.end()), std::vector<double>(y.begin(), y.end()));
  const double normal = boost::math::quantile(boost::math::normal(), 0.975);
  return within(r, normal * std::sqrt(spread(r) / static_cast<double>(x.size() - 3)));
}

// Sums from which a coefficient follows.
struct Moments {
  double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;

  void add(double dx, double dy) {
    ++n;
    x += dx;
    y += dy;
    xx += dx * dx;
    yy += dy * dy;
    xy += dx * dy;
  }
  Moments without(const Moments& part) const {
    return {n - part.n, x - part.x, y - part.y, xx - part.xx, yy - part.yy, xy - part.xy};
  }
  double coefficient() const {
    const double of_x = n * xx - x * x;
    const double of_y = n * yy - y * y;
    if (of_x <= 0 || of_y <= 0) return 0;
    return std::clamp((n * xy - x * y) / std::sqrt(of_x * of_y), -1.0, 1.0);
  }
};

std::optional<Correlation> by_blocks(std::span<const float> x, std::span<const float> y,
                                     std::size_t blocks) {
  if (x.size() != y.size() || blocks < 2 || x.size() < 2 * blocks || is_constant(x) ||
      is_constant(y))
    return std::nullopt;
  const double centre_x = mean(x);
  const double centre_y = mean(y);
  std::vector<Moments> parts(blocks);
  Moments all;
  for (std::size_t at = 0; at < x.size(); ++at) {
    const double dx = static_cast<double>(x[at]) - centre_x;
    const double dy = static_cast<double>(y[at]) - centre_y;
    parts[std::min(at * blocks / x.size(), blocks - 1)].add(dx, dy);
    all.add(dx, dy);
  }
  std::vector<double> left;
  left.reserve(blocks);
  for (const Moments& part : parts) left.push_back(transformed(all.without(part).coefficient()));
  const double centre = mean(left);
  double squares = 0;
  for (const double z : left) squares += (z - centre) * (z - centre);
  const auto count = static_cast<double>(blocks);
  return within(all.coefficient(),
                student_t_95(count - 1) * std::sqrt((count - 1) / count * squares));
}

}  // namespace

std::vector<double> midranks(std::span<const double> values) {
  return midranks_of(values);
}

std::vector<float> midranks(std::span<const float> values) {
  return midranks_of(values);
}

std::optional<Correlation> pearson(std::span<const double> x, std::span<const double> y) {
  return of_independent(x, y, [](double) { return 1.0; });
}

std::optional<Correlation> spearman(std::span<const double> x, std::span<const double> y) {
  // Ranks are spread a little more (Bonett and Wright 2000).
  return of_independent(midranks(x), midranks(y), [](double r) { return 1 + r * r / 2; });
}

std::optional<Correlation> pearson(std::span<const float> x, std::span<const float> y,
                                   std::size_t blocks) {
  return by_blocks(x, y, blocks);
}

std::optional<Correlation> spearman(std::span<const float> x, std::span<const float> y,
                                    std::size_t blocks) {
  return by_blocks(midranks(x), midranks(y), blocks);
}

}  // namespace sojourn::differential
