#include "analysis/live/live_rebuild.h"

#include <algorithm>
#include <utility>

#include "analysis/journeys/path_order.h"
#include "analysis/profile/sampled_work.h"

namespace sojourn::live {

namespace {

// The number of slow packets that are explained, for each direction and second.
constexpr std::size_t kExplained = 4;

// A packet is explained soon after its end; one that took longer than this span is not.
constexpr causes::Timeline::Limits kRemembered = {.span_ns = 5'000'000'000, .entries = 4'000'000};

}  // namespace

Result<std::unique_ptr<LiveRebuild>> LiveRebuild::create(
    const causes::TraceMetadata& source, journeys::CaptureMarks marks, std::uint64_t origin_ns,
    const LiveOptions& options, const Choice& choice, const LiveScript& script) {
  SJ_TRY(topology, journeys::Topology::derive(source.schema, options.rules));
  auto shared = std::make_shared<const journeys::Topology>(std::move(topology));
  std::unique_ptr<LiveRebuild> made(new LiveRebuild(source, shared, origin_ns, options));
  made->script_keeps_ = script.keeps;
  made->figures_.know_script(source.schema);
  made->rebuilder_ =
      journeys::Rebuilder::create_for(std::move(shared), options.rules, std::move(marks), *made);
  SJ_CHECK(made->choose(choice));
  return made;
}

LiveRebuild::LiveRebuild(const causes::TraceMetadata& source,
                         std::shared_ptr<const journeys::Topology> topology,
                         std::uint64_t origin_ns, const LiveOptions& options)
    : source_(source),
      topology_(std::move(topology)),
      origin_ns_(origin_ns),
      options_(options),
      figures_(topology_, origin_ns, options.window_s),
      names_(source.context),
      worst_(kExplained, options.window_s),
      kept_(figures_, *topology_, [this](const journeys::Journey&) { return is_kept_; }) {
  if (!options_.explains) return;
  explainer_.emplace(
      source_, *topology_, options_.rules, names_, worst_.deadlines(), causes::Explainer::Wanted(),
      [this](const causes::Verdict& verdict) { worst_.add(second_of(verdict.end_ns), verdict); },
      kRemembered);
}

bool LiveRebuild::wants_steps_of(const journeys::Journey& journey) const {
  return filter_ || script_keeps_ || (explainer_ && explainer_->wants_steps_of(journey));
}

void LiveRebuild::on_journey(const journeys::Journey& journey) {
  if (!filter_ && !script_keeps_) {
    figures_.on_journey(journey);
  } else {
    is_kept_ = (!filter_ || (*filter_)(journey)) && (!script_keeps_ || script_keeps_(journey));
    kept_.on_journey(journey);
    if (!is_kept_) return;
  }
  if (!explainer_) return;
  explainer_->on_journey(journey);
  if (!journey.has_latency()) return;
  worst_.note(journey.direction, journey.latency_ns());
  explainer_->set_deadlines(worst_.deadlines());
}

// With a filter, the stays are reported with their journeys.
void LiveRebuild::on_stay(const journeys::Stay& stay) {
  if (!filter_ && !script_keeps_) figures_.on_stay(stay);
  if (explainer_) explainer_->on_stay(stay);
}

void LiveRebuild::consume(const model::EventBatch& events) {
  if (events.empty()) return;
  rebuilder_->consume(events);
  figures_.consume(events);
  if (explainer_) explainer_->consume(events);
}

void LiveRebuild::advance(std::uint64_t now_ns) {
  figures_.advance(now_ns);
  worst_.advance(second_of(std::max(now_ns, origin_ns_ + 1) - 1));
  if (explainer_) explainer_->set_deadlines(worst_.deadlines());
}

void LiveRebuild::finish() {
  rebuilder_->finish();
  if (explainer_) explainer_->finish();
}

Result<void> LiveRebuild::choose(const Choice& choice) {
  std::optional<filter::JourneyFilter> chosen;
  if (choice.expression) {
    SJ_TRY(made, filter::JourneyFilter::compile(*choice.expression, source_.schema,
                                                {.origin_ns = origin_ns_,
                                                 .streams = source_.streams,
                                                 .threads = profile::thread_names(source_.context),
                                                 .more_threads = true}));
    chosen = std::move(made);
  }
  const bool is_change = filter_.has_value() || chosen.has_value();
  filter_ = std::move(chosen);
  if (!is_change) return {};
  Snapshot now;
  figures_.fill(now);
  figures_.begin_anew(now.now_ns);
  worst_.clear();
  return {};
}

void LiveRebuild::begin_anew(std::uint64_t now_ns) {
  figures_.begin_anew(now_ns);
}

void LiveRebuild::know_names() {
  names_ = causes::ContextNameTable(source_.context);
}

void LiveRebuild::fill(Snapshot& snapshot) const {
  figures_.fill(snapshot);
  snapshot.open_ns = origin_ns_;
  const auto& points = totals().points;
  const auto was_hit = [&](std::size_t point) { return points[point].events != 0; };
  for (DirectionRow& row : snapshot.directions)
    row.times.name = journeys::path_ends(*topology_, source_.schema, row.times.direction, was_hit);
  std::erase_if(snapshot.directions, [&](const DirectionRow& row) {
    for (std::size_t point = 0; point < points.size(); ++point)
      if (topology_->points[point].direction == row.times.direction && was_hit(point)) return false;
    return true;
  });
  snapshot.events = totals().events;
  snapshot.worst = worst_.slowest(options_.worst);
  snapshot.topology = topology_;
  snapshot.names = &names_;
  snapshot.schema = &source_.schema;
}

}  // namespace sojourn::live
