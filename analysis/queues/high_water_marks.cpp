#include "analysis/queues/high_water_marks.h"

#include <algorithm>

namespace sojourn::queues {

HighWaterMarks::HighWaterMarks(const journeys::Topology& topology,
                               const SampledQueues& sampled_queues,
                               std::map<std::uint32_t, std::string> threads)
    : topology_(topology),
      threads_(std::move(threads)),
      marks_(sampled_queues.queues().size()),
      plans_(topology.places.size()) {
  for (const SampledQueue& stats : sampled_queues.queues()) {
    // The items in a pool are free buffers, and no units.
    const bool holds_units = stats.about.kind != model::QueueKind::kPool;
    for (std::size_t place = 0; holds_units && place < plans_.size(); ++place) {
      if (stats.about.is_place(topology.places[place].name))
        plans_[place].whole.push_back(queues_.size());
      if (stats.about.is_group_of(topology.places[place].name))
        plans_[place].by_group.emplace(stats.about.group, queues_.size());
    }
    by_id_.emplace(stats.about.id, queues_.size());
    queues_.push_back(stats.about);
  }
}

const std::vector<std::size_t>& HighWaterMarks::joining(std::uint32_t from_tid,
                                                        std::uint32_t to_tid) {
  const auto [known, is_new] = joining_.try_emplace({from_tid, to_tid});
  const auto from = threads_.find(from_tid);
  const auto to = threads_.find(to_tid);
  if (!is_new || from == threads_.end() || to == threads_.end()) return known->second;
  for (std::size_t queue = 0; queue < queues_.size(); ++queue)
    if (queues_[queue].kind != model::QueueKind::kPool &&
        queues_[queue].joins(from->second, to->second))
      known->second.push_back(queue);
  return known->second;
}

// The queue of a step; none if several fit.
std::optional<std::size_t> HighWaterMarks::queue_of(std::uint16_t place, const journeys::Step& from,
                                                    const journeys::Step& to) {
  std::optional<std::size_t> found;
  bool are_several = false;
  const auto add = [&](std::size_t queue) {
    are_several |= found && *found != queue;
    found = queue;
  };
  const Plan& plan = plans_[place];
  std::ranges::for_each(plan.whole, add);
  for (const std::uint64_t id : to.values)
    if (const auto group = plan.by_group.find(id); group != plan.by_group.end()) add(group->second);
  if (!found) std::ranges::for_each(joining(from.tid, to.tid), add);
  return are_several ? std::nullopt : found;
}

void HighWaterMarks::on_journey(const journeys::Journey& journey) {
  for (const journeys::Step& step : journey.steps) {
    if (step.repeat_of != journeys::kNoStep || topology_.points[step.point].ack) continue;
    for (const std::uint32_t parent : step.parents) {
      const journeys::Step& from = journey.steps[parent];
      const auto& place = topology_.points[from.point].place;
      const auto queue = place ? queue_of(*place, from, step) : std::nullopt;
      if (queue)
        stays_.push_back({.queue = *queue,
                          .entered_ns = from.entered_ns,
                          .left_ns = step.ts_ns,
                          .journey = journey.id});
    }
  }
}

void HighWaterMarks::note(const Stay& stay, HighWaterMark& mark) {
  mark.is_placed = true;
  if (mark.ts_ns < stay.entered_ns || mark.ts_ns >= stay.left_ns) return;
  if (mark.inside != 0 && mark.newest == stay.journey) return;
  mark.newest = stay.journey;
  ++mark.inside;
  if (mark.journeys.size() < HighWaterMark::kMaxListed) mark.journeys.push_back(stay.journey);
}

// Forgets the journeys of an older mark: journeys are reported when they have left, so those were
// not inside at the newer mark.
void HighWaterMarks::renew(const SampledQueue& stats, HighWaterMark& mark) {
  const std::uint64_t mark_ns = stats.gauge.max_at_ns();
  if (mark.ts_ns == mark_ns) return;
  mark.ts_ns = mark_ns;
  mark.inside = 0;
  mark.journeys.clear();
}

void HighWaterMarks::settle(const SampledQueues& sampled_queues) {
  for (const Stay& stay : stays_) {
    renew(sampled_queues.queues()[stay.queue], marks_[stay.queue]);
    note(stay, marks_[stay.queue]);
  }
  stays_.clear();
}

void HighWaterMarks::finish(const SampledQueues& sampled_queues) {
  settle(sampled_queues);
  for (std::size_t queue = 0; queue < marks_.size(); ++queue)
    renew(sampled_queues.queues()[queue], marks_[queue]);
}

const HighWaterMark* HighWaterMarks::find(std::uint64_t queue) const {
  const auto known = by_id_.find(queue);
  if (known == by_id_.end()) return nullptr;
  const HighWaterMark& mark = marks_[known->second];
  return mark.is_placed ? &mark : nullptr;
}

}  // namespace sojourn::queues
