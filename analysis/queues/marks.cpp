#include "analysis/queues/marks.h"

#include <algorithm>

namespace sojourn::queues {

Marks::Marks(const journeys::Topology& topology, const Survey& survey,
             std::map<std::uint32_t, std::string> threads)
    : topology_(topology),
      threads_(std::move(threads)),
      marks_(survey.stories().size()),
      plans_(topology.places.size()) {
  for (const Story& story : survey.stories()) {
    // What is in a pool is nobody's.
    const bool holds_units = story.about.kind != model::QueueKind::kPool;
    for (std::size_t place = 0; holds_units && place < plans_.size(); ++place) {
      if (story.about.is_place(topology.places[place].name))
        plans_[place].whole.push_back(queues_.size());
      if (story.about.is_group_of(topology.places[place].name))
        plans_[place].by_group.emplace(story.about.group, queues_.size());
    }
    by_id_.emplace(story.about.id, queues_.size());
    queues_.push_back(story.about);
  }
}

const std::vector<std::size_t>& Marks::joining(std::uint32_t from_tid, std::uint32_t to_tid) {
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

// None where several are meant.
std::optional<std::size_t> Marks::queue_of(std::uint16_t place, const journeys::Step& from,
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

void Marks::on_journey(const journeys::Journey& journey) {
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

void Marks::note(const Stay& stay, Mark& mark) {
  mark.is_placed = true;
  if (mark.ts_ns < stay.entered_ns || mark.ts_ns >= stay.left_ns) return;
  if (mark.inside != 0 && mark.newest == stay.journey) return;
  mark.newest = stay.journey;
  ++mark.inside;
  if (mark.journeys.size() < Mark::kMostListed) mark.journeys.push_back(stay.journey);
}

// Those that were inside at a mark that was passed since were not at the newer one, as they are
// told of when they have left.
void Marks::renew(const Story& story, Mark& mark) {
  const std::uint64_t mark_ns = story.gauge.max_at_ns();
  if (mark.ts_ns == mark_ns) return;
  mark.ts_ns = mark_ns;
  mark.inside = 0;
  mark.journeys.clear();
}

void Marks::settle(const Survey& survey) {
  for (const Stay& stay : stays_) {
    renew(survey.stories()[stay.queue], marks_[stay.queue]);
    note(stay, marks_[stay.queue]);
  }
  stays_.clear();
}

void Marks::finish(const Survey& survey) {
  settle(survey);
  for (std::size_t queue = 0; queue < marks_.size(); ++queue)
    renew(survey.stories()[queue], marks_[queue]);
}

const Mark* Marks::find(std::uint64_t queue) const {
  const auto known = by_id_.find(queue);
  if (known == by_id_.end()) return nullptr;
  const Mark& mark = marks_[known->second];
  return mark.is_placed ? &mark : nullptr;
}

}  // namespace sojourn::queues
