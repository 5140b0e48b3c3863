#include "analysis/pipeline/partitions.h"

#include <algorithm>

namespace sojourn::pipeline {
namespace {

// The shares of a direction, so that eight processors are busy with two directions; and the number
// of events from which on each share soon learns as much as a whole.
constexpr std::uint32_t kSharesOfDirection = 4;
constexpr std::uint64_t kWorthSharing = 10'000'000;

bool has_units(const journeys::Topology& topology, model::Direction direction) {
  return std::ranges::any_of(topology.points, [direction](const journeys::PointPlan& plan) {
    return plan.carries_units && plan.direction == direction;
  });
}

}  // namespace

bool can_partition(const trace::Reader& reader) {
  const auto open_ns = reader.capture().open_ns;
  return open_ns != 0 &&
         std::ranges::none_of(reader.blocks(), [open_ns](const trace::BlockInfo& block) {
           return block.min_ts_ns < open_ns;
         });
}

std::vector<journeys::Partition> directions_of(const journeys::Topology& topology) {
  std::vector<journeys::Partition> directions;
  for (const auto direction : {model::Direction::kDownlink, model::Direction::kUplink})
    if (has_units(topology, direction)) directions.push_back({.direction = direction});
  return directions;
}

std::vector<journeys::Partition> partitions_of(const journeys::Topology& topology,
                                               std::uint64_t events, unsigned processors) {
  const auto directions = directions_of(topology);
  std::vector<journeys::Partition> parts;
  for (const auto& whole : directions) {
    const bool shared = events >= kWorthSharing && topology.is_divisible(whole.direction);
    const auto shares = shared ? kSharesOfDirection : 1;
    auto threads = shares;
    while (threads > 1 && threads * directions.size() > processors) threads /= 2;
    for (std::uint32_t thread = 0; thread < threads; ++thread)
      parts.push_back({.direction = whole.direction,
                       .shares = shares,
                       .begin = thread * shares / threads,
                       .end = (thread + 1) * shares / threads});
  }
  return parts;
}

}  // namespace sojourn::pipeline
