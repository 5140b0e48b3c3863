#include "analysis/journeys/path_order.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

namespace sojourn::journeys {

std::vector<std::uint16_t> places_in_order(const Topology& topology, model::Direction direction) {
  std::map<std::uint16_t, std::uint16_t> ranks;
  for (const auto& pair : topology.pairs) {
    if (topology.places[pair.place].direction != direction) continue;
    const auto rank = topology.points[pair.parent].rank;
    const auto known = ranks.try_emplace(pair.place, rank).first;
    known->second = std::max(known->second, rank);
  }
  std::vector<std::uint16_t> order;
  order.reserve(ranks.size());
  for (const auto& [place, rank] : ranks) order.push_back(place);
  std::ranges::stable_sort(order, {}, [&](std::uint16_t place) { return ranks[place]; });
  return order;
}

std::vector<std::uint16_t> places_in_order(const Topology& topology) {
  std::vector<std::uint16_t> all;
  for (const auto direction : model::kPacketDirections)
    for (const auto place : places_in_order(topology, direction)) all.push_back(place);
  return all;
}

bool is_stay(const Topology& topology, std::size_t pair) {
  const auto& child = topology.points[topology.pairs[pair].child];
  return !child.drop && !child.ack;
}

std::string path_ends(const Topology& topology, const model::Schema& schema,
                      model::Direction direction, const std::function<bool(std::size_t)>& was_hit) {
  std::vector<std::string> from;
  std::vector<std::string> to;
  std::optional<std::size_t> loop;
  const auto note = [](std::vector<std::string>& places, const std::string& place) {
    if (std::ranges::find(places, place) == places.end()) places.push_back(place);
  };
  for (std::size_t i = 0; i < topology.points.size(); ++i) {
    const auto& plan = topology.points[i];
    if (plan.direction != direction || !was_hit(i)) continue;
    if (plan.input && plan.output) continue;
    if (plan.input) note(from, schema.points[i].src);
    if (plan.loop != 0 && (!loop || plan.rank < topology.points[*loop].rank)) loop = i;
    if (plan.output) note(to, schema.points[i].dest);
  }
  // A loop without an input is entered at one of its points.
  if (from.empty() && loop) from.push_back(schema.points[*loop].src);
  const auto said = [](const std::vector<std::string>& places) {
    if (places.empty()) return std::string("?");
    return places.size() == 1 ? places[0]
                              : fmt::format("{} and {} more", places[0], places.size() - 1);
  };
  return fmt::format("{} -> {}", said(from), said(to));
}

std::vector<std::vector<std::size_t>> stays_by_place(const Topology& topology) {
  std::vector<std::vector<std::size_t>> pairs(topology.places.size());
  for (std::size_t pair = 0; pair < topology.pairs.size(); ++pair)
    if (is_stay(topology, pair)) pairs[topology.pairs[pair].place].push_back(pair);
  return pairs;
}

}  // namespace sojourn::journeys
