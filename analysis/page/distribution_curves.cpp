#include "analysis/page/distribution_curves.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "analysis/differential/latency_series.h"
#include "analysis/model/schema.h"
#include "analysis/present/report/cdf.h"
#include "analysis/statistics/distribution.h"

namespace sojourn::page {
namespace {

constexpr std::size_t kMostCurves = 200;  // as many as the page shows

using Key = std::pair<std::size_t, std::uint8_t>;  // group and direction

char letter_of(std::uint8_t direction) {
  return letter(static_cast<model::Direction>(direction));
}

}  // namespace

void send_curves(const JourneyColumns& columns, AnswerSink& sink) {
  std::map<Key, statistics::Distribution> times;
  differential::LatencySeries series;
  for (std::size_t row = 0; row < columns.id.size(); ++row) {
    if (columns.group[row] < 0 || std::isnan(columns.latency[row])) continue;
    const auto group = static_cast<std::size_t>(columns.group[row]);
    const auto latency_ns = static_cast<std::uint64_t>(columns.latency[row]);
    times[{group, columns.direction[row]}].add(latency_ns);
    // Packets may have begun before the origin. Their times are moved, so that none is negative:
    // only the order of the times counts.
    constexpr double kBefore = 1e15;
    series.add(letter_of(columns.direction[row]), columns.groups[group],
               static_cast<std::uint64_t>(columns.start[row] + kBefore), latency_ns);
  }
  std::vector<std::pair<std::uint64_t, Key>> order;
  for (const auto& [key, of] : times) order.emplace_back(of.count(), key);
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) { return a.first > b.first; });
  order.resize(std::min(order.size(), kMostCurves));
  std::vector<double> groups, ns, longer, low, high;
  std::vector<std::uint8_t> directions;
  for (const auto& [count, key] : order)
    for (const present::CdfPoint& point : present::cdf_points(times.at(key))) {
      const auto band = series.above(letter_of(key.second), columns.groups[key.first], point.ns);
      constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
      groups.push_back(static_cast<double>(key.first));
      directions.push_back(key.second);
      ns.push_back(static_cast<double>(point.ns));
      longer.push_back(point.longer);
      low.push_back(band ? band->low : kNone);
      high.push_back(band ? band->high : kNone);
    }
  sink.column("curve_group", groups);
  sink.column("curve_direction", directions);
  sink.column("curve_ns", ns);
  sink.column("curve_longer", longer);
  sink.column("curve_low", low);
  sink.column("curve_high", high);
}

}  // namespace sojourn::page
