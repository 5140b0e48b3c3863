#include "analysis/differential/changes_within.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

namespace sojourn::differential {
namespace {

// A change is in one of them, and few have two.
constexpr std::size_t kParts = 8;
// The number of parts that may be worse than the one that is used.
constexpr std::size_t kSpoiled = 2;

// The number of packets that are worth one independent one. Parts in which the level changes are
// left out.
double inefficiency_of_parts(std::span<const float> series) {
  const std::size_t length = series.size() / kParts;
  std::array<double, kParts> found = {};
  for (std::size_t part = 0; part < kParts; ++part)
    found[part] = effective_size(series.subspan(part * length, length)).inefficiency;
  std::ranges::sort(found);
  return found[kParts - 1 - kSpoiled];
}

struct Timed {
  std::vector<float> values;
  std::vector<std::uint64_t> start_ns;
};

// Drops the entries of packets that never were in the place.
Timed without_missing(const std::vector<float>& values,
                      const std::vector<std::uint64_t>& start_ns) {
  Timed timed;
  for (std::size_t at = 0; at < values.size(); ++at) {
    if (std::isnan(values[at])) continue;
    timed.values.push_back(values[at]);
    timed.start_ns.push_back(start_ns[at]);
  }
  return timed;
}

SeriesWithin in_blocks(char direction, const std::string& name, bool is_latency,
                       const Timed& timed) {
  SeriesWithin series = {.direction = direction,
                         .name = name,
                         .is_latency = is_latency,
                         .packets = timed.values.size()};
  const auto blocks = blocks_between_changes(timed.values);
  if (!blocks) return series;
  series.block_packets = blocks->length;
  for (std::size_t block = 0; block < blocks->count; ++block) {
    series.mean_ns.push_back(mean(blocks->of(timed.values, block)));
    series.start_ns.push_back(timed.start_ns[block * blocks->length]);
  }
  return series;
}

double size_of(const ChangePoint& change) {
  return std::abs(change.after - change.before);
}

double largest_change(const SeriesWithin& series) {
  double largest = 0;
  for (const ChangePoint& change : series.changes) largest = std::max(largest, size_of(change));
  return largest;
}

}  // namespace

std::optional<Blocks> blocks_between_changes(std::span<const float> series) {
  if (series.size() < kParts * kMinBlocks * 4) return std::nullopt;
  const auto least =
      static_cast<std::size_t>(std::ceil(kChangeBlockFactor * inefficiency_of_parts(series)));
  const std::size_t length = std::max(least, (series.size() + kMaxBlocks - 1) / kMaxBlocks);
  const Blocks blocks = blocks_of_length(series, length);
  return blocks.count < kMinBlocks ? std::nullopt : std::optional(blocks);
}

ChangesWithin changes_within(const RunFigures& run, double level) {
  ChangesWithin found;
  constexpr std::string_view kDirections = "DU";
  for (std::size_t direction = 0; direction < kDirections.size(); ++direction) {
    const RunOfPackets& packets = run.packets[direction];
    if (packets.latency_ns.empty()) continue;
    const char letter = kDirections[direction];
    found.series.push_back(
        in_blocks(letter, "latency", true, without_missing(packets.latency_ns, packets.start_ns)));
    for (const auto& [place, stays] : packets.stays_ns)
      found.series.push_back(
          in_blocks(letter, place, false, without_missing(stays, packets.start_ns)));
  }
  if (found.series.empty()) return found;
  const double of_each = level / static_cast<double>(found.series.size());
  found.blocks_needed = values_for_change(of_each);
  for (SeriesWithin& series : found.series) {
    series.changes = change_points(series.mean_ns, of_each);
    series.resolution_ns = std::max(
        kUnitOfTimeNs, time_error_ns(run, series.direction, series.name, series.is_latency));
    std::erase_if(series.changes, [&](const ChangePoint& change) {
      return size_of(change) <= series.resolution_ns;
    });
  }
  std::ranges::stable_sort(found.series, std::ranges::greater(), [](const SeriesWithin& series) {
    return std::pair(series.is_latency, largest_change(series));
  });
  return found;
}

}  // namespace sojourn::differential
