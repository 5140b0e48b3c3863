#include "analysis/differential/difference.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

namespace sojourn::differential {
namespace {

using Series = std::vector<std::vector<float>>;
using Figures = std::span<const RunFigures>;

// The directions and places of all runs, in the order of the first run that has them.
std::vector<std::pair<std::size_t, std::string>> places_of(Figures base, Figures now) {
  std::vector<std::pair<std::size_t, std::string>> places;
  for (const Figures side : {base, now})
    for (const RunFigures& run : side)
      for (std::size_t direction = 0; direction < run.packets.size(); ++direction)
        for (const auto& [name, stays] : run.packets[direction].stays_ns) {
          const std::pair place(direction, name);
          if (std::ranges::find(places, place) == places.end()) places.push_back(place);
        }
  return places;
}

Series latencies_of(Figures side, std::size_t direction) {
  Series series;
  for (const RunFigures& run : side) series.push_back(run.packets[direction].latency_ns);
  return series;
}

Series stays_of(Figures side, std::size_t direction, const std::string& place) {
  Series series;
  for (const RunFigures& run : side) {
    auto& there = series.emplace_back();
    for (const auto& [name, stays] : run.packets[direction].stays_ns) {
      if (name != place) continue;
      std::ranges::copy_if(stays, std::back_inserter(there),
                           [](float stay) { return !std::isnan(stay); });
    }
  }
  return series;
}

Series depths_of(Figures side, char direction, const std::string& place) {
  Series series;
  for (const RunFigures& run : side) {
    auto& units = series.emplace_back();
    for (const DepthOfPlace& depth : run.depths)
      if (depth.direction == direction && depth.place == place) units = depth.units;
  }
  return series;
}

std::set<std::string> edges_of(const RunFigures& run) {
  std::set<std::string> edges;
  for (const FlowOfDirection& flow : run.flows)
    for (const FlowEdge& edge : flow.edges)
      edges.insert(std::string(1, flow.direction) + " " + edge.from + " > " + edge.to);
  return edges;
}

// In all runs of the one side, and in none of the other.
std::vector<std::string> edges_only_in(Figures side, Figures other) {
  std::vector<std::string> only;
  for (const std::string& edge : edges_of(side.front())) {
    const auto has = [&](const RunFigures& run) { return edges_of(run).contains(edge); };
    if (std::ranges::all_of(side, has) && std::ranges::none_of(other, has)) only.push_back(edge);
  }
  return only;
}

// How far the time may be off in any of the runs.
double resolution_ns(Figures base, Figures now, const Comparison& time) {
  double largest = kUnitOfTimeNs;
  for (const Figures side : {base, now})
    for (const RunFigures& run : side)
      largest = std::max(largest, time_error_ns(run, time.direction, time.name, time.is_latency));
  return largest;
}

double size_of_shift(const Comparison& each) {
  const Shift* const mean = each.shift(kMean);
  return mean == nullptr ? 0 : std::abs(mean->by());
}

}  // namespace

void add_slowdowns(std::span<Comparison> times) {
  const auto growth = [](const Comparison& each) -> std::optional<double> {
    const Shift* const mean = each.shift(kMean);
    if (mean == nullptr || mean->base <= 0 || mean->now <= 0) return std::nullopt;
    return mean->now / mean->base;
  };
  for (const Comparison& latency : times) {
    const auto of_latency = growth(latency);
    if (!latency.is_latency || !of_latency) continue;
    for (Comparison& each : times) {
      if (each.is_latency || each.direction != latency.direction) continue;
      if (const auto of_stay = growth(each)) each.slowdown = *of_stay / *of_latency;
    }
  }
}

Difference difference(Figures base, Figures now, const DifferenceOptions& options) {
  Difference found;
  const bool has_runs = base.size() >= 2 && now.size() >= 2;
  found.unit = options.unit.value_or(has_runs ? Unit::kRun : Unit::kBlock);
  constexpr std::string_view kDirections = "DU";
  const auto add = [&](std::vector<Comparison>& to, std::size_t direction, std::string name,
                       const Series& of_base, const Series& of_now) {
    Comparison& each = to.emplace_back(compare(of_base, of_now, found.unit, options.shares));
    each.direction = kDirections[direction];
    each.name = std::move(name);
  };
  for (std::size_t direction = 0; direction < kDirections.size(); ++direction) {
    const Series of_base = latencies_of(base, direction);
    const Series of_now = latencies_of(now, direction);
    const auto is_empty = [](const auto& run) { return run.empty(); };
    if (std::ranges::all_of(of_base, is_empty) && std::ranges::all_of(of_now, is_empty)) continue;
    add(found.times, direction, "latency", of_base, of_now);
    found.times.back().is_latency = true;
  }
  for (const auto& [direction, place] : places_of(base, now)) {
    add(found.times, direction, place, stays_of(base, direction, place),
        stays_of(now, direction, place));
    const char letter = kDirections[direction];
    const Series of_base = depths_of(base, letter, place);
    const Series of_now = depths_of(now, letter, place);
    add(found.depths, direction, place, of_base, of_now);
  }
  add_slowdowns(found.times);
  judge(found.times, options.level);
  if (options.turns != nullptr) {
    found.may_be_looked_at = true;
    options.turns->judge(found.times, options.level);
  }
  for (Comparison& each : found.times) {
    each.resolution_ns = resolution_ns(base, now, each);
    if (each.verdict == Verdict::kChanged && each.is_below_resolution())
      each.verdict = Verdict::kSame;
  }
  found.tests = static_cast<std::size_t>(std::ranges::count_if(
      found.times, [](const Comparison& each) { return each.p.has_value(); }));
  const auto rank = [](const Comparison& each) {
    return std::tuple(each.is_latency, each.verdict == Verdict::kChanged, size_of_shift(each));
  };
  std::ranges::stable_sort(found.times, std::ranges::greater(), rank);
  std::ranges::stable_sort(found.depths, std::ranges::greater(), size_of_shift);
  found.appeared = edges_only_in(now, base);
  found.vanished = edges_only_in(base, now);
  return found;
}

}  // namespace sojourn::differential
