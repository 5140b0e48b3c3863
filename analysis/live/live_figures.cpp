#include "analysis/live/live_figures.h"

#include <algorithm>
#include <utility>

#include "analysis/journeys/path_order.h"

namespace sojourn::live {

using journeys::Outcome;

namespace {

constexpr double kNsPerSecond = 1e9;

Quantiles quantiles_of(const TimeHistogram& times, double span_s) {
  return {.count = times.count(),
          .per_s = span_s > 0 ? static_cast<double>(times.count()) / span_s : 0,
          .p50_ns = times.quantile(0.5),
          .p90_ns = times.quantile(0.9),
          .p99_ns = times.quantile(0.99),
          .p999_ns = times.quantile(0.999),
          .max_ns = times.max()};
}

double seconds_between(std::uint64_t from_ns, std::uint64_t to_ns) {
  return to_ns <= from_ns ? 0 : static_cast<double>(to_ns - from_ns) / kNsPerSecond;
}

}  // namespace

LiveFigures::LiveFigures(std::shared_ptr<const journeys::Topology> topology, std::uint64_t open_ns,
                         std::size_t window_s)
    : topology_(std::move(topology)),
      open_ns_(open_ns),
      since_ns_(open_ns),
      now_ns_(open_ns),
      window_seconds_(window_s),
      directions_(model::kPacketDirections.size(), Direction(window_s)),
      places_(topology_->places.size(), SlidingTimes(window_s)),
      depths_(topology_->places.size(), DepthWindow(window_s)) {
  for (const auto& pair : topology_->pairs) {
    const auto& child = topology_->points[pair.child];
    place_of_pair_.push_back(child.drop || child.ack ? std::nullopt : std::optional(pair.place));
  }
}

void LiveFigures::on_journey(const journeys::Journey& journey) {
  const auto at = std::ranges::find(model::kPacketDirections, journey.direction);
  if (at == model::kPacketDirections.end()) return;
  auto& direction = directions_[static_cast<std::size_t>(at - model::kPacketDirections.begin())];
  switch (journey.outcome) {
    case Outcome::kCensored:
      ++direction.censored;
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
  if (journey.has_latency()) direction.latency.add(second_of(journey.end_ns), journey.latency_ns());
}

void LiveFigures::on_stay(const journeys::Stay& stay) {
  if (const auto place = place_of_pair_[stay.pair])
    places_[*place].add(second_of(stay.left_ns), stay.left_ns - stay.entered_ns);
}

void LiveFigures::on_enter(std::uint16_t place, std::uint64_t ts_ns) {
  depths_[place].enter(second_of(ts_ns));
}

void LiveFigures::on_leave(std::uint16_t place, std::uint64_t /*entered_ns*/, std::uint64_t ts_ns,
                           bool seen) {
  depths_[place].leave(second_of(ts_ns), seen);
}

void LiveFigures::know_script(const model::Schema& schema) {
  const auto first =
      std::ranges::find(schema.points, model::Direction::kScript, &model::Point::direction);
  first_made_ = static_cast<std::size_t>(first - schema.points.begin());
  for (auto point = first; point != schema.points.end(); ++point)
    made_.push_back(
        {point->name(), point->field(model::kDurationField), SlidingTimes(window_seconds_)});
}

void LiveFigures::consume(const model::EventBatch& events) {
  if (made_.empty()) return;
  for (std::size_t row = 0; row < events.size(); ++row) {
    const std::size_t point = events.point()[row];
    if (point < first_made_ || point - first_made_ >= made_.size()) continue;
    Made& made = made_[point - first_made_];
    made.times.add(second_of(events.ts_ns()[row]),
                   made.duration ? events[row].values[*made.duration] : 0);
  }
}

void LiveFigures::advance(std::uint64_t now_ns) {
  now_ns_ = std::max(now_ns_, now_ns);
  // When a full second is over, the next one has not begun yet.
  const std::uint64_t second = second_of(std::max(now_ns_, open_ns_ + 1) - 1);
  for (auto& direction : directions_) direction.latency.advance(second);
  for (auto& place : places_) place.advance(second);
  for (auto& depth : depths_) depth.advance(second);
  for (auto& made : made_) made.times.advance(second);
}

void LiveFigures::begin_anew(std::uint64_t now_ns) {
  since_ns_ = std::max(now_ns, open_ns_);
  for (auto& direction : directions_) {
    direction.latency.clear();
    direction.complete = direction.dropped = direction.censored = direction.incomplete = 0;
  }
  for (auto& place : places_) place.clear();
  for (auto& made : made_) made.times.clear();
}

// The present second counts for its elapsed part.
double LiveFigures::window_s(std::uint64_t now_ns) const {
  if (now_ns <= open_ns_) return 0;
  const std::uint64_t second = (now_ns - 1 - open_ns_) / 1'000'000'000;
  const std::uint64_t first = second + 1 - std::min<std::uint64_t>(second + 1, window_seconds_);
  return seconds_between(std::max(since_ns_, open_ns_ + first * 1'000'000'000), now_ns);
}

TimesRow LiveFigures::row_of(const SlidingTimes& times, double window_s, double since_s) const {
  TimesRow row;
  row.window = quantiles_of(times.window(), window_s);
  row.all = quantiles_of(times.all(), since_s);
  for (const auto& second : times.history()) row.p99_by_second.push_back(second.p99_ns);
  return row;
}

void LiveFigures::fill(Snapshot& snapshot) const {
  snapshot.now_ns = now_ns_;
  snapshot.window_s = window_s(now_ns_);
  snapshot.since_s = seconds_between(since_ns_, now_ns_);
  for (std::size_t at = 0; at < directions_.size(); ++at) {
    const auto& direction = directions_[at];
    DirectionRow row;
    row.times = row_of(direction.latency, snapshot.window_s, snapshot.since_s);
    row.times.direction = model::kPacketDirections[at];
    row.complete = direction.complete;
    row.dropped = direction.dropped;
    row.censored = direction.censored;
    row.incomplete = direction.incomplete;
    snapshot.directions.push_back(std::move(row));
  }
  for (const Made& made : made_) {
    TimesRow row = row_of(made.times, snapshot.window_s, snapshot.since_s);
    row.direction = model::Direction::kScript;
    row.name = made.name;
    (made.duration ? snapshot.activities : snapshot.markers).push_back(std::move(row));
  }
  for (const std::uint16_t place : journeys::places_in_order(*topology_)) {
    const auto& about = topology_->places[place];
    TimesRow row = row_of(places_[place], snapshot.window_s, snapshot.since_s);
    row.direction = about.direction;
    row.name = about.name;
    const DepthWindow& depth = depths_[place];
    if (row.all.count != 0) snapshot.places.push_back(std::move(row));
    if (depth.entered() != 0)
      snapshot.queues.push_back({.direction = about.direction,
                                 .name = about.name,
                                 .now = depth.now(),
                                 .window_max = depth.window_max(),
                                 .max = depth.max(),
                                 .entered = depth.entered(),
                                 .given_up = depth.given_up()});
  }
}

}  // namespace sojourn::live
