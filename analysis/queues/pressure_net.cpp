#include "analysis/queues/pressure_net.h"

#include "analysis/queues/flow_json.h"

namespace sojourn::queues {

namespace {

// What was never seen to leave is no pressure.
const Series* known_depth(const Meter& meter) {
  return meter.is_depth_known() ? &meter.series() : nullptr;
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

void PressureNet::add(const Survey& survey) {
  for (const Story& story : survey.stories()) {
    if (story.gauge.seconds() > 0) sampled_.emplace(story.about.id, nodes_.size());
    PressureNode node;
    // A pool that is full is at rest.
    if (is_line(story.about.kind))
      node = {.series = &story.gauge.series(),
              .capacity = story.about.capacity,
              .fed_by = junctions_of(story.about.producer),
              .drained_by = junctions_of(story.about.consumer)};
    nodes_.push_back(std::move(node));
    names_.push_back({story.name(), story.about.consumer.stage});
  }
}

void PressureNet::add(const Operations& operations) {
  for (const OperatedQueue* queue : operations.queues()) {
    const auto [known, is_new] = sampled_.try_emplace(queue->about.id, nodes_.size());
    if (is_new) {
      nodes_.push_back({.series = queue->is_line() ? known_depth(queue->meter) : nullptr,
                        .capacity = queue->about.capacity});
      names_.push_back({queue->about.shown_name(), queue->about.consumer.stage});
    }
    if (queue->is_line()) {
      join_threads(queue->fed_by, nodes_[known->second].fed_by);
      join_threads(queue->drained_by, nodes_[known->second].drained_by);
    }
    std::string& stage = names_[known->second].stage;
    if (stage.empty()) stage = main_thread(queue->drained_by, threads_);
  }
}

void PressureNet::add(const Places& places, const journeys::Topology& topology) {
  const Junction first = junctions_;
  junctions_ += places.stories().size();
  for (std::size_t at = 0; at < places.stories().size(); ++at) {
    const auto place = static_cast<std::uint16_t>(at);
    const PlaceStory& story = places.stories()[at];
    PressureNode node = {.series = known_depth(story.meter), .drained_by = {first + at}};
    for (const std::uint16_t before : places.before(place)) node.fed_by.push_back(first + before);
    nodes_.push_back(std::move(node));
    names_.push_back({place_text(topology, place), main_thread(story.drained_by, threads_)});
  }
}

}  // namespace sojourn::queues
