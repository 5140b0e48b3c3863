#include "analysis/metrics/journey_metrics.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "analysis/journeys/known_ids.h"

namespace sojourn::metrics {

namespace {

constexpr std::array<journeys::Outcome, 4> kOutcomes = {
    journeys::Outcome::kComplete, journeys::Outcome::kCensored, journeys::Outcome::kIncomplete,
    journeys::Outcome::kDropped};

constexpr std::string_view kOtherUes = "others";
constexpr std::string_view kOtherPlaces = "others";

std::string text_of(char letter) {
  return {letter};
}

Sample number(Labels labels, std::uint64_t value) {
  return {.labels = std::move(labels), .value = static_cast<double>(value)};
}

Family family(std::string_view name, MetricType type, std::string_view unit,
              std::string_view help) {
  return {.name = std::string(name),
          .help = std::string(help),
          .type = type,
          .unit = std::string(unit),
          .samples = {}};
}

}  // namespace

void JourneyMetrics::begin(const journeys::Topology& topology, const model::Schema& schema) {
  schema_ = &schema;
  for (auto& [place, figures] : places_) figures.inside = 0;
  by_place_.clear();
  for (const journeys::Place& place : topology.places) {
    const Place key(model::letter(place.direction), place.name);
    const bool has_room = places_.contains(key) || places_.size() < kMaxPlaces;
    by_place_.push_back(has_room ? &places_[key] : nullptr);
  }
  of_pair_.clear();
  for (const journeys::Pair& pair : topology.pairs) of_pair_.push_back(pair.place);
}

void JourneyMetrics::on_journey(const journeys::Journey& journey) {
  Way& way = ways_[model::letter(journey.direction)];
  ++way.outcomes[static_cast<std::size_t>(journey.outcome)];
  way.retransmissions += journey.retransmissions;
  if (journey.ambiguous) ++way.ambiguous;
  if (!journey.has_latency()) return;
  const Exemplar packet = {
      .journey = journey.id, .value_ns = journey.latency_ns(), .at_ns = journey.end_ns};
  way.latency.add(packet);
  if (max_ues_ == 0) return;
  std::string ue = journeys::owner_text(*schema_, journey);
  if (!ues_.contains(ue) && ues_.size() == max_ues_)
    ue = kOtherUes;
  else
    ues_.insert(ue);
  of_ues_[{model::letter(journey.direction), std::move(ue)}].add(packet);
}

void JourneyMetrics::note_slow(model::Direction direction, std::string_view cause,
                               const std::string& place, std::uint64_t latency_ns) {
  SlowKey key = {
      .direction = model::letter(direction), .cause = std::string(cause), .place = place};
  if (!slow_.contains(key) && slow_.size() >= kMaxSlow) key.place = kOtherPlaces;
  Slow& slow = slow_[std::move(key)];
  ++slow.packets;
  slow.seconds += static_cast<double>(latency_ns) / 1e9;
}

void JourneyMetrics::on_stay(const journeys::Stay& stay) {
  if (AtPlace* const here = by_place_[of_pair_[stay.pair]])
    here->stays.add(stay.left_ns - stay.entered_ns);
}

void JourneyMetrics::on_enter(std::uint16_t place, std::uint64_t /*ts_ns*/) {
  if (AtPlace* const here = by_place_[place]) ++here->inside;
}

void JourneyMetrics::on_leave(std::uint16_t place, std::uint64_t /*entered_ns*/,
                              std::uint64_t /*ts_ns*/, bool /*seen*/) {
  if (AtPlace* const here = by_place_[place]) --here->inside;
}

void JourneyMetrics::consume(const model::Schema& schema, const model::EventBatch& events) {
  events_.resize(std::max(events_.size(), schema.points.size()));
  for (std::size_t row = 0; row < events.size(); ++row) {
    const model::PointId point = events.point()[row];
    ++events_[point];
    if (schema.points[point].direction != model::Direction::kSample) continue;
    const auto sample = model::queue_sample(schema, events[row]);
    if (sample && (depths_.contains(sample->queue) || depths_.size() < kMaxQueues))
      depths_[sample->queue] = sample->depth();
  }
}

void JourneyMetrics::note(const model::QueueChanges& changes) {
  for (const model::QueueChange& change : changes) {
    if (change.event != model::QueueEvent::kEnded) {
      queue_names_[change.about.id] = change.about.name;
      continue;
    }
    queue_names_.erase(change.about.id);
    depths_.erase(change.about.id);
  }
}

// Words behind the first one say which of its queues a place has here, e.g. that of a UE. They are
// left out: no label names a UE unless it is asked for.
std::string JourneyMetrics::queue_name(std::uint64_t id) const {
  const auto known = queue_names_.find(id);
  if (known == queue_names_.end() || known->second.empty()) return fmt::format("{:x}", id);
  return known->second.substr(0, known->second.find(' '));
}

std::vector<Family> JourneyMetrics::families(const std::vector<std::uint64_t>& costs_ps) const {
  Family latency = family("sojourn_latency_seconds", MetricType::kHistogram, "seconds",
                          "Time of complete packets from their input to their output.");
  Family journeys =
      family("sojourn_journeys", MetricType::kCounter, "", "Rebuilt packets by outcome.");
  Family ambiguous = family("sojourn_ambiguous_journeys", MetricType::kCounter, "",
                            "Packets of which some step fitted another unit as well.");
  Family repeats = family("sojourn_retransmissions", MetricType::kCounter, "",
                          "Times that a packet, or a part of one, was sent again.");
  for (const auto& [letter, way] : ways_) {
    const Labels labels = {{"direction", text_of(letter)}};
    latency.samples.push_back({.labels = labels, .value = way.latency});
    for (const journeys::Outcome outcome : kOutcomes) {
      Labels both = labels;
      both.emplace_back("outcome", journeys::name(outcome));
      journeys.samples.push_back(
          number(std::move(both), way.outcomes[static_cast<std::size_t>(outcome)]));
    }
    ambiguous.samples.push_back(number(labels, way.ambiguous));
    repeats.samples.push_back(number(labels, way.retransmissions));
  }

  Family stays = family("sojourn_stay_seconds", MetricType::kHistogram, "seconds",
                        "Time of units in a place, until they or a part of them left it.");
  Family inside = family("sojourn_units_inside", MetricType::kGauge, "",
                         "Units that are in a place: entered, and neither left nor given up.");
  for (const auto& [place, figures] : places_) {
    const Labels labels = {{"direction", text_of(place.first)}, {"place", place.second}};
    stays.samples.push_back({.labels = labels, .value = figures.stays});
    inside.samples.push_back(
        number(labels, static_cast<std::uint64_t>(std::max<std::int64_t>(figures.inside, 0))));
  }

  Family depths = family("sojourn_queue_depth", MetricType::kGauge, "",
                         "Items in the registered queues of a name, when they were sampled last.");
  std::map<std::string, std::uint64_t> by_name;
  for (const auto& [id, depth] : depths_) by_name[queue_name(id)] += depth;
  for (const auto& [name, depth] : by_name)
    depths.samples.push_back(number({{"queue", name}}, depth));

  Family events = family("sojourn_events", MetricType::kCounter, "", "Events that were recorded.");
  Family cost = family("sojourn_tracing_cost_seconds", MetricType::kCounter, "seconds",
                       "Time of the target that its points took, if the cost of a hit is known.");
  std::uint64_t count = 0;
  double cost_ps = 0;
  for (std::size_t point = 0; point < events_.size(); ++point) {
    count += events_[point];
    if (point < costs_ps.size())
      cost_ps += static_cast<double>(costs_ps[point]) * static_cast<double>(events_[point]);
  }
  events.samples.push_back(number({}, count));
  cost.samples.push_back({.labels = {}, .value = cost_ps / 1e12});

  Family lost = family("sojourn_lost_events", MetricType::kCounter, "",
                       "Events that were lost, by cause; those that were filtered are no loss.");
  std::map<std::string_view, std::uint64_t> by_cause = {
      {model::name(model::LossCause::kRingFull), 0}};
  for (const model::LedgerEntry& entry : ledger_) by_cause[model::name(entry.cause)] += entry.count;
  for (const auto& [cause, losses] : by_cause)
    lost.samples.push_back(number({{"cause", std::string(cause)}}, losses));

  std::vector<Family> all = {std::move(latency), std::move(journeys), std::move(ambiguous),
                             std::move(repeats), std::move(stays),    std::move(inside),
                             std::move(depths),  std::move(events),   std::move(cost),
                             std::move(lost)};
  add_slow(all);
  add_ues(all);
  return all;
}

void JourneyMetrics::add_slow(std::vector<Family>& families) const {
  Family packets = family("sojourn_slow_packets", MetricType::kCounter, "",
                          "The slowest packets of each second, at most four of a direction, by the "
                          "cause that took most of their time.");
  Family seconds = family("sojourn_slow_packets_latency_seconds", MetricType::kCounter, "seconds",
                          "Latency of those packets, added up.");
  for (const auto& [key, slow] : slow_) {
    const Labels labels = {
        {"direction", text_of(key.direction)}, {"cause", key.cause}, {"place", key.place}};
    packets.samples.push_back(number(labels, slow.packets));
    seconds.samples.push_back({.labels = labels, .value = slow.seconds});
  }
  families.push_back(std::move(packets));
  families.push_back(std::move(seconds));
}

void JourneyMetrics::add_ues(std::vector<Family>& families) const {
  Family latency = family("sojourn_ue_latency_seconds", MetricType::kHistogram, "seconds",
                          "Time of a UE's complete packets from their input to their output.");
  for (const auto& [key, times] : of_ues_)
    latency.samples.push_back(
        {.labels = {{"direction", text_of(key.first)}, {"ue", key.second}}, .value = times});
  families.push_back(std::move(latency));
}

}  // namespace sojourn::metrics
