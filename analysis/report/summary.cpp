#include "analysis/report/summary.h"

#include <algorithm>
#include <utility>

namespace sojourn::report {

using journeys::Journey;
using journeys::Outcome;

namespace {

using statistics::Distribution;

void merge_into(Distribution& mine, Distribution theirs) {
  if (mine.count() == 0)
    mine = std::move(theirs);
  else
    mine.merge(theirs);
}

}  // namespace

void DirectionSummary::merge(DirectionSummary other) {
  complete += other.complete;
  censored += other.censored;
  inside += other.inside;
  before_open += other.before_open;
  incomplete += other.incomplete;
  dropped += other.dropped;
  ambiguous += other.ambiguous;
  in_pieces += other.in_pieces;
  repeated += other.repeated;
  at_one_point += other.at_one_point;
  merge_into(latency_ns, std::move(other.latency_ns));
  merge_into(net_latency_ns, std::move(other.net_latency_ns));
}

Summary::Summary(const journeys::Topology& topology, std::uint64_t open_ns, TracingCost tracing)
    : topology_(topology),
      open_ns_(open_ns),
      hops_(topology.pairs.size()),
      net_hops_(tracing.is_known() ? topology.pairs.size() : 0),
      places_(topology.places.size()),
      tracing_(std::move(tracing)) {
  if (open_ns_ != 0) begin(open_ns_);
}

void Summary::begin(std::uint64_t ts_ns) {
  begun_ = true;
  for (auto& each : places_) each.depth.begin(ts_ns);
}

void Summary::on_journey(const Journey& journey) {
  auto& direction = directions_[static_cast<std::size_t>(journey.direction)];
  // The journey may have ended in order, but that part is before the open mark.
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
  if (!journey.has_latency()) {
    ++direction.at_one_point;
    return;
  }
  add_latency(journey, direction);
}

void Summary::add_latency(const Journey& journey, DirectionSummary& direction) {
  direction.latency_ns.add(journey.latency_ns());
  for (const auto& leg : journey.critical_path)
    places_[leg.place].critical_path_ns += static_cast<double>(leg.ns);
  if (!has_net_times()) return;
  std::uint64_t inside_ns = 0;
  for (const auto& leg : journey.critical_path) {
    const auto ns = tracing_.inside_ns({.entered_ns = leg.left_ns - leg.ns,
                                        .left_ns = leg.left_ns,
                                        .entered_by = leg.entered_by,
                                        .left_by = leg.left_by});
    places_[leg.place].net_critical_path_ns += static_cast<double>(leg.ns - ns);
    inside_ns += ns;
  }
  direction.net_latency_ns.add(journey.latency_ns() - std::min(inside_ns, journey.latency_ns()));
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
  const auto ns = stay.left_ns - stay.entered_ns;
  hops_[stay.pair].add(ns);
  if (!has_net_times()) return;
  net_hops_[stay.pair].add(ns - tracing_.inside_ns({.entered_ns = stay.entered_ns,
                                                    .left_ns = stay.left_ns,
                                                    .entered_by = stay.entered_by,
                                                    .left_by = stay.left_by}));
}

void Summary::on_enter(std::uint16_t place, std::uint64_t ts_ns) {
  if (!begun_) {
    begin(open_ns_ == 0 ? ts_ns : open_ns_);
  }
  places_[place].depth.enter(ts_ns);
}

void Summary::on_leave(std::uint16_t place, std::uint64_t entered_ns, std::uint64_t ts_ns,
                       bool seen) {
  auto& here = places_[place];
  here.depth.leave(ts_ns);
  if (seen) {
    here.depth.stayed(ts_ns - entered_ns);
    here.given_up.left(entered_ns, ts_ns);
  } else {
    const auto now_ns = here.depth.last_ns();
    here.given_up.add(std::clamp(entered_ns, here.depth.begin_ns(), now_ns), now_ns);
  }
}

std::unique_ptr<pipeline::DivisibleObserver> Summary::new_part() const {
  return std::make_unique<Summary>(topology_, open_ns_, tracing_.anew());
}

void Summary::merge_part(DivisibleObserver& part) {
  merge(std::move(static_cast<Summary&>(part)));
}

void Summary::merge(Summary&& other) {
  for (std::size_t at = 0; at < directions_.size(); ++at)
    directions_[at].merge(std::move(other.directions_[at]));
  for (std::size_t pair = 0; pair < hops_.size(); ++pair)
    merge_into(hops_[pair], std::move(other.hops_[pair]));
  for (std::size_t pair = 0; pair < std::min(net_hops_.size(), other.net_hops_.size()); ++pair)
    merge_into(net_hops_[pair], std::move(other.net_hops_[pair]));
  forgotten_ += other.forgotten();
  for (std::size_t place = 0; place < places_.size(); ++place) {
    auto& mine = places_[place];
    auto& theirs = other.places_[place];
    mine.critical_path_ns += theirs.critical_path_ns;
    mine.net_critical_path_ns += theirs.net_critical_path_ns;
    merge_into(mine.inside_ns, std::move(theirs.inside_ns));
    mine.oldest_inside_ns = std::max(mine.oldest_inside_ns, theirs.oldest_inside_ns);
    if (mine.depth.entered() != 0) continue;
    mine.depth = std::move(theirs.depth);
    mine.given_up = theirs.given_up;
  }
}

void Summary::finish(std::uint64_t end_ns) {
  for (auto& place : places_) place.depth.end(end_ns);
}

}  // namespace sojourn::report
