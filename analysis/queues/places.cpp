#include "analysis/queues/places.h"

#include <algorithm>
#include <utility>

namespace sojourn::queues {

Places::Places(const journeys::Topology& topology, std::uint64_t open_ns, TakeStay take,
               ItemSelection selection)
    : topology_(topology),
      open_ns_(open_ns == 0 ? 0 : std::max(open_ns, selection.from_ns)),
      take_(std::move(take)),
      selection_(std::move(selection)),
      queues_(topology.places.size()) {}

void Places::begin(std::uint64_t ts_ns) {
  if (begun_) return;
  begun_ = true;
  if (open_ns_ == 0 || open_ns_ > ts_ns) open_ns_ = ts_ns;
  for (PlaceQueue& stats : queues_) {
    stats.meter.begin(open_ns_);
    stats.meter.end_no_later_than(selection_.until_ns);
  }
}

void Places::told(std::uint64_t ts_ns) {
  told_ns_ = std::max(told_ns_, ts_ns);
  if (!stays_.empty()) settle(told_ns_);
}

void Places::on_enter(std::uint16_t place, std::uint64_t ts_ns) {
  begin(ts_ns);
  told(ts_ns);
  queues_[place].meter.enter(ts_ns);
}

void Places::on_leave(std::uint16_t place, std::uint64_t entered_ns, std::uint64_t ts_ns,
                      bool seen) {
  told(ts_ns);
  queues_[place].meter.leave(ts_ns, seen);
  if (seen)
    queues_[place].meter.stayed(entered_ns, ts_ns);
  else
    queues_[place].meter.lingered(entered_ns);
}

void Places::on_stay(const journeys::Stay& stay) {
  const std::uint16_t place = topology_.pairs[stay.pair].place;
  ++queues_[place].fed_by[stay.entered_by];
  ++queues_[place].drained_by[stay.left_by];
  if (take_) take_(place, stay);
}

// A segmented unit leaves with its last segment. An acknowledgement comes later, and only ends the
// stay of a unit that was not seen to leave.
void Places::find_leavings(const journeys::Journey& journey) {
  left_ns_.assign(journey.steps.size(), 0);
  for (const bool is_ack : {false, true}) {
    for (const journeys::Step& step : journey.steps) {
      if (step.repeat_of != journeys::kNoStep || topology_.points[step.point].ack != is_ack)
        continue;
      for (const std::uint32_t parent : step.parents)
        if (!is_ack || left_ns_[parent] == 0)
          left_ns_[parent] = std::max(left_ns_[parent], step.ts_ns);
    }
  }
}

// If a higher mark follows, only the journeys at that one count.
void Places::note_at_mark(const Stay& stay) {
  PlaceQueue& stats = queues_[stay.place];
  const std::uint64_t mark_ns = stats.meter.high_water().ts_ns;
  if (mark_ns < stay.entered_ns || mark_ns >= stay.left_ns) return;
  if (stats.mark_ns != mark_ns) {
    stats.mark_ns = mark_ns;
    stats.inside = 0;
    stats.journeys.clear();
  }
  if (stats.inside != 0 && stats.newest == stay.journey) return;
  stats.newest = stay.journey;
  ++stats.inside;
  if (stats.journeys.size() < PlaceQueue::kMaxListed) stats.journeys.push_back(stay.journey);
}

void Places::settle(std::uint64_t until_ns) {
  for (; !stays_.empty() && stays_.front().left_ns <= until_ns; stays_.pop_front())
    note_at_mark(stays_.front());
}

void Places::on_journey(const journeys::Journey& journey) {
  find_leavings(journey);
  for (std::size_t index = 0; index < journey.steps.size(); ++index) {
    const journeys::Step& step = journey.steps[index];
    const auto& place = topology_.points[step.point].place;
    const bool was_there = place && left_ns_[index] != 0;
    if (was_there && selection_({.ts_ns = step.ts_ns,
                                 .seq = step.seq,
                                 .stream = step.stream,
                                 .tid = step.tid,
                                 .point = step.point,
                                 .values = step.values}))
      stays_.push_back({.journey = journey.id,
                        .entered_ns = step.entered_ns,
                        .left_ns = left_ns_[index],
                        .place = *place});
  }
  settle(told_ns_);
}

void Places::finish(std::uint64_t end_ns) {
  if (!begun_) return;
  settle(UINT64_MAX);
  for (PlaceQueue& stats : queues_) {
    stats.meter.end(end_ns);
    if (stats.mark_ns == stats.meter.high_water().ts_ns) continue;
    stats.inside = 0;
    stats.journeys.clear();
  }
}

std::vector<std::uint16_t> Places::before(std::uint16_t place) const {
  std::vector<std::uint16_t> found;
  for (const journeys::Pair& pair : topology_.pairs)
    if (topology_.points[pair.child].place == place && pair.place != place)
      found.push_back(pair.place);
  std::ranges::sort(found);
  const auto twice = std::ranges::unique(found);
  found.erase(twice.begin(), twice.end());
  return found;
}

std::vector<std::uint16_t> Places::order() const {
  std::map<std::uint16_t, std::uint16_t> ranks;
  for (const journeys::Pair& pair : topology_.pairs) {
    std::uint16_t& rank = ranks[pair.place];
    rank = std::max(rank, topology_.points[pair.parent].rank);
  }
  std::vector<std::uint16_t> places;
  for (const auto& [place, rank] : ranks)
    if (queues_[place].meter.in() != 0) places.push_back(place);
  std::ranges::stable_sort(places, {}, [&](std::uint16_t place) {
    return std::pair(topology_.places[place].direction, ranks[place]);
  });
  return places;
}

}  // namespace sojourn::queues
