#include "analysis/report/summary.h"

#include <algorithm>
#include <utility>

namespace sojourn::report {

using journeys::Journey;
using journeys::Outcome;

Summary::Summary(const journeys::Topology& topology, std::uint64_t open_ns)
    : topology_(topology),
      open_ns_(open_ns),
      hops_(topology.pairs.size()),
      places_(topology.places.size()) {
  if (open_ns_ != 0) begin(open_ns_);
}

void Summary::begin(std::uint64_t ts_ns) {
  begun_ = true;
  for (auto& each : places_) each.depth.begin(ts_ns);
}

void Summary::on_journey(const Journey& journey) {
  auto& direction = directions_[static_cast<std::size_t>(journey.direction)];
  // It may have ended as it should, then: only the trace does not reach back so far.
  if (journey.outcome == Outcome::kCensored && journey.inside_until_ns == 0 &&
      journey.last_ns < open_ns_) {
    ++direction.before_open;
    return;
  }
  if (journey.ambiguous) ++direction.ambiguous;
  switch (journey.outcome) {
    case Outcome::kCensored:
      ++direction.censored;
      if (journey.inside_until_ns != 0) note_inside(journey);
      return;
    case Outcome::kIncomplete:
      ++direction.incomplete;
      return;
    case Outcome::kDropped:
      ++direction.dropped;
      return;
    case Outcome::kComplete:
      break;
  }
  ++direction.complete;
  if (journey.segments > 1) ++direction.in_pieces;
  if (journey.retransmissions > 0) ++direction.repeated;
  direction.latency_ns.add(journey.latency_ns());
  for (const auto& leg : journey.way) places_[leg.place].decisive_ns += static_cast<double>(leg.ns);
}

// A packet in several pieces is in a place once, since the first of them came.
void Summary::note_inside(const Journey& journey) {
  ++directions_[static_cast<std::size_t>(journey.direction)].inside;
  inside_since_.clear();
  for (const auto& inside : journey.inside) {
    const auto known = inside_since_.try_emplace(inside.place, inside.since_ns).first;
    known->second = std::min(known->second, inside.since_ns);
  }
  for (const auto& [index, since_ns] : inside_since_) {
    auto& place = places_[index];
    place.inside_ns.add(journey.inside_until_ns - since_ns);
    place.oldest_inside_ns =
        std::max(place.oldest_inside_ns, journey.inside_until_ns - journey.start_ns);
  }
}

void Summary::on_stay(const journeys::Stay& stay) {
  hops_[stay.pair].add(stay.left_ns - stay.entered_ns);
}

void Summary::on_enter(std::uint16_t place, std::uint64_t ts_ns) {
  if (!begun_) {
    begin(open_ns_ == 0 ? ts_ns : open_ns_);
  }
  places_[place].depth.enter(ts_ns);
}

void Summary::on_leave(std::uint16_t place, std::uint64_t entered_ns, std::uint64_t ts_ns,
                       bool seen) {
  places_[place].depth.leave(ts_ns);
  if (seen) places_[place].depth.stayed(ts_ns - entered_ns);
}

void Summary::take(Summary& other, model::Direction direction) {
  const auto at = static_cast<std::size_t>(direction);
  directions_[at] = std::move(other.directions_[at]);
  for (std::size_t place = 0; place < places_.size(); ++place)
    if (topology_.places[place].direction == direction)
      places_[place] = std::move(other.places_[place]);
  for (std::size_t pair = 0; pair < hops_.size(); ++pair)
    if (topology_.places[topology_.pairs[pair].place].direction == direction)
      hops_[pair] = std::move(other.hops_[pair]);
}

void Summary::finish(std::uint64_t end_ns) {
  for (auto& place : places_) place.depth.end(end_ns);
}

}  // namespace sojourn::report
