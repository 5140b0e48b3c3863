#include "analysis/page/packet_surroundings.h"

#include <algorithm>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

namespace sojourn::page {

using nlohmann::ordered_json;

HopTimes::HopTimes(const journeys::Topology& topology) : times_ns_(topology.pairs.size()) {
  for (std::size_t at = 0; at < topology.pairs.size(); ++at)
    pairs_[{topology.pairs[at].parent, topology.pairs[at].child}] = at;
}

std::optional<double> HopTimes::at_most(model::PointId parent, model::PointId child,
                                        std::uint64_t ns) const {
  const auto pair = pairs_.find({parent, child});
  if (pair == pairs_.end()) return std::nullopt;
  const statistics::Distribution& times_ns = times_ns_[pair->second];
  if (times_ns.count() == 0) return std::nullopt;
  return 1 - static_cast<double>(times_ns.above(ns)) / static_cast<double>(times_ns.count());
}

void BlockCompanions::add(std::uint64_t journey, std::vector<Event> events) {
  std::set<EventKey> mine;
  for (std::uint32_t at = 0; at < events.size(); ++at)
    if (mine.insert(events[at].key).second)
      known_.emplace(events[at].key, Place{.packet = journey, .event = at});
  packets_[journey].events = std::move(events);
}

// Remembers the units of the other journey that this step put into one block with the packet's.
void BlockCompanions::join(const Place& place, const journeys::Journey& other,
                           const journeys::Step& step) {
  Packet& packet = packets_.at(place.packet);
  ++packet.others[place.event];
  const auto& ours = packet.events[place.event].parents;
  for (const std::uint32_t parent : step.parents) {
    const journeys::Step& before = other.steps[parent];
    const auto [first, last] = known_.equal_range({.stream = before.stream, .seq = before.seq});
    const bool is_same_block = std::any_of(first, last, [&](const auto& theirs) {
      return theirs.second.packet == place.packet &&
             std::ranges::find(ours, theirs.second.event) != ours.end();
    });
    if (!is_same_block && packet.joined.size() < kMostJoined)
      packet.joined.push_back({.event = place.event, .journey = other.id, .from_ns = before.ts_ns});
  }
}

void BlockCompanions::on_journey(const journeys::Journey& journey) {
  for (const journeys::Step& step : journey.steps) {
    const auto [first, last] = known_.equal_range({.stream = step.stream, .seq = step.seq});
    for (auto at = first; at != last; ++at)
      if (at->second.packet != journey.id) join(at->second, journey, step);
  }
}

ordered_json BlockCompanions::shared(std::uint64_t journey) const {
  auto list = ordered_json::array();
  for (const auto& [event, others] : packets_.at(journey).others)
    list.push_back({{"event", event}, {"others", others}});
  return list;
}

ordered_json BlockCompanions::joined(std::uint64_t journey) const {
  auto list = ordered_json::array();
  for (const Joined& one : packets_.at(journey).joined)
    list.push_back({{"event", one.event}, {"journey", one.journey}, {"from_ns", one.from_ns}});
  return list;
}

}  // namespace sojourn::page
