#include "analysis/latseq/native.h"

#include <algorithm>
#include <ranges>
#include <utility>

namespace sojourn::latseq {

namespace {

constexpr std::size_t kMaxWays = 1'000;  // of one packet

}  // namespace

NativeJourneys::NativeJourneys(Recording& recording, const journeys::Topology& topology,
                               const model::Schema& schema)
    : recording_(recording), topology_(topology), uid_(recording.names().of("uid")) {
  for (std::size_t i = 0; i < topology.points.size(); ++i)
    if (topology.points[i].input) inputs_.push_back(recording.names().of(schema.points[i].src));
  const auto& measures = recording.measures();
  for (std::uint32_t i = 0; i < measures.size(); ++i)
    by_event_[measures[i].stream].emplace(measures[i].seq, i);
}

void NativeJourneys::on_journey(const journeys::Journey& journey) {
  if (journey.outcome != journeys::Outcome::kComplete) return;
  // A journey of LatSeq's has at least two events: a single one has no duration.
  if (!journey.has_latency()) {
    ++left_out_;
    return;
  }
  ways_ = 0;
  for (std::uint32_t step = 0; step < journey.steps.size(); ++step) {
    const journeys::Step& last = journey.steps[step];
    const bool is_end =
        step == journey.end_step || (journey.direction == model::Direction::kDownlink &&
                                     topology_.points[last.point].output && !last.again);
    if (is_end) walk_back(journey, step);
  }
}

void NativeJourneys::walk_back(const journeys::Journey& journey, std::uint32_t step) {
  way_.push_back(step);
  const auto parents = journey.steps[step].parents;
  const auto is_repeat = [&](std::uint32_t parent) {
    return journey.steps[parent].repeat_of != journeys::kNoStep;
  };
  const bool only_repeats = std::ranges::all_of(parents, is_repeat);
  if (parents.empty()) add_way(journey);
  for (const std::uint32_t parent : parents)
    if (only_repeats || !is_repeat(parent)) walk_back(journey, parent);
  way_.pop_back();
}

void NativeJourneys::add_way(const journeys::Journey& journey) {
  if (++ways_ > kMaxWays) {
    ++left_out_;
    return;
  }
  Journey made;
  made.uplink = journey.direction == model::Direction::kUplink;
  made.ids.push_back({.name = uid_, .value = result_.journeys.size()});
  for (const std::uint32_t index : way_ | std::views::reverse) {
    const journeys::Step& step = journey.steps[index];
    const auto stream = by_event_.find(step.stream);
    if (stream == by_event_.end() || !stream->second.contains(step.seq)) {
      ++left_out_;
      return;
    }
    made.way.push_back(stream->second.at(step.seq));
    const Measure& measure = recording_.measures()[made.way.back()];
    if (made.globals.empty()) made.globals = recording_.copy(measure.globals);
    for (const Id& id : recording_.copy(measure.locals)) put(made.ids, id);
  }
  const Measure& last = recording_.measures()[made.way.back()];
  made.properties = recording_.copy(last.properties);
  made.in_ns = recording_.measures()[made.way.front()].ts_ns;
  made.out_ns = last.ts_ns;
  made.path = path_of(made);
  result_.journeys.push_back(std::move(made));
}

std::uint32_t NativeJourneys::path_of(const Journey& journey) {
  Path path;
  for (const std::uint32_t measure : journey.way)
    path.push_back(recording_.measures()[measure].src);
  path.push_back(recording_.measures()[journey.way.back()].dest);
  auto& paths = result_.paths[journey.direction()];
  const auto known = std::ranges::find(paths, path);
  const auto number = static_cast<std::uint32_t>(known - paths.begin());
  if (known == paths.end()) paths.push_back(std::move(path));
  return number;
}

Journeys NativeJourneys::finish() {
  share_events(result_, recording_, inputs_, StayOf::kJourney);
  return std::move(result_);
}

}  // namespace sojourn::latseq
