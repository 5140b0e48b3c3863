#include "analysis/queues/pressure_net.h"

#include <algorithm>

#include "analysis/queues/queue_names.h"

namespace sojourn::queues {

namespace {

// A depth that is due to items that were never seen to leave is no pressure.
const DepthSeries* known_depth(const Meter& meter) {
  return meter.is_depth_known() ? &meter.series() : nullptr;
}

// Units that wait for their other pieces are no pressure: the thread that takes them out is not
// slow.
bool waits_for_pieces(const journeys::Topology& topology, std::uint16_t place) {
  return std::ranges::any_of(topology.pairs, [&](const journeys::Pair& pair) {
    return pair.place == place && pair.reassembles();
  });
}

}  // namespace

std::vector<Junction> PressureNet::junctions_of(const model::QueueSide& side) {
  if (side.stage.empty()) return {};
  const auto [known, is_new] =
      by_side_.try_emplace(Side(side.stage, side.instance, side.pid), junctions_);
  if (is_new) ++junctions_;
  return {known->second};
}

void PressureNet::join_threads(const std::map<std::uint32_t, std::uint64_t>& items,
                               std::vector<Junction>& junctions) {
  for (const std::uint32_t thread : main_threads(items)) {
    const auto [known, is_new] = by_thread_.try_emplace(thread, junctions_);
    if (is_new) ++junctions_;
    junctions.push_back(known->second);
  }
}

void PressureNet::add(const SampledQueues& sampled_queues) {
  for (const SampledQueue& stats : sampled_queues.queues()) {
    if (stats.gauge.seconds() > 0) sampled_.emplace(stats.about.id, nodes_.size());
    PressureNode node;
    // A pool that is full is at rest.
    if (is_waiting_line(stats.about.kind))
      node = {.series = &stats.gauge.series(),
              .capacity = stats.about.capacity,
              .fed_by = junctions_of(stats.about.producer),
              .drained_by = junctions_of(stats.about.consumer)};
    nodes_.push_back(std::move(node));
    names_.push_back({stats.name(), stats.about.consumer.stage});
  }
}

void PressureNet::add(const Operations& operations) {
  for (const OperatedQueue* queue : operations.queues()) {
    const auto [known, is_new] = sampled_.try_emplace(queue->about.id, nodes_.size());
    if (is_new) {
      nodes_.push_back({.series = queue->is_waiting_line() ? known_depth(queue->meter) : nullptr,
                        .capacity = queue->about.capacity});
      names_.push_back({queue->about.shown_name(), queue->about.consumer.stage});
    }
    if (queue->is_waiting_line()) {
      join_threads(queue->fed_by, nodes_[known->second].fed_by);
      join_threads(queue->drained_by, nodes_[known->second].drained_by);
    }
    std::string& stage = names_[known->second].stage;
    if (stage.empty()) stage = main_thread(queue->drained_by, threads_);
  }
}

void PressureNet::add(const Places& places, const journeys::Topology& topology) {
  const Junction first = junctions_;
  junctions_ += places.queues().size();
  for (std::size_t at = 0; at < places.queues().size(); ++at) {
    const auto place = static_cast<std::uint16_t>(at);
    const PlaceQueue& stats = places.queues()[at];
    PressureNode node = {
        .series = waits_for_pieces(topology, place) ? nullptr : known_depth(stats.meter),
        .drained_by = {first + at}};
    for (const std::uint16_t before : places.before(place)) node.fed_by.push_back(first + before);
    nodes_.push_back(std::move(node));
    names_.push_back({place_text(topology, place), main_thread(stats.drained_by, threads_)});
  }
}

}  // namespace sojourn::queues
