#include "analysis/page/packet_surroundings.h"

#include <algorithm>

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

BlockCompanions::BlockCompanions(std::uint64_t journey, std::vector<Event> events)
    : journey_(journey), events_(std::move(events)) {
  for (std::uint32_t at = 0; at < events_.size(); ++at) known_.try_emplace(events_[at].key, at);
}

void BlockCompanions::on_journey(const journeys::Journey& journey) {
  if (journey.id == journey_) return;
  const auto event_of = [&](const journeys::Step& step) {
    return known_.find({.stream = step.stream, .seq = step.seq});
  };
  for (const journeys::Step& step : journey.steps) {
    const auto event = event_of(step);
    if (event == known_.end()) continue;
    ++others_[event->second];
    const auto& ours = events_[event->second].parents;
    for (const std::uint32_t parent : step.parents) {
      const journeys::Step& before = journey.steps[parent];
      const auto theirs = event_of(before);
      const bool is_same_block =
          theirs != known_.end() && std::ranges::find(ours, theirs->second) != ours.end();
      if (!is_same_block && joined_.size() < kMostJoined)
        joined_.push_back({.event = event->second, .journey = journey.id, .from_ns = before.ts_ns});
    }
  }
}

ordered_json BlockCompanions::shared() const {
  auto list = ordered_json::array();
  for (const auto& [event, others] : others_)
    list.push_back({{"event", event}, {"others", others}});
  return list;
}

ordered_json BlockCompanions::joined() const {
  auto list = ordered_json::array();
  for (const Joined& one : joined_)
    list.push_back({{"event", one.event}, {"journey", one.journey}, {"from_ns", one.from_ns}});
  return list;
}

}  // namespace sojourn::page
