#include "userspace/capture/control/journey_watch.h"

#include <utility>

namespace sojourn::capture {

Result<void> JourneyWatch::check(const filter::Expression& condition, const model::Schema& schema) {
  SJ_CHECK(
      filter::JourneyFilter::compile(condition, schema, {.streams = {}, .more_threads = true}));
  return {};
}

JourneyWatch::JourneyWatch(std::vector<filter::Expression> conditions, Fire fire)
    : conditions_(std::move(conditions)), fire_(std::move(fire)), filters_(conditions_.size()) {}

// Takes the new schema. Journeys that are under way when it grows are not reported.
void JourneyWatch::adapt(const model::Schema& schema) {
  if (schema_.points.size() == schema.points.size()) return;
  schema_ = schema;
  has_news_ = true;
  restart();
}

void JourneyWatch::add_stream(const model::Stream& stream) {
  streams_.push_back(stream);
  if (links_) links_->add_stream(stream);
  has_news_ = true;
  regroup();
}

void JourneyWatch::know_threads(filter::ThreadNames threads) {
  threads_ = std::move(threads);
  has_news_ = true;
}

void JourneyWatch::add_target(const model::Target& target) {
  targets_.push_back(target);
  regroup();
}

void JourneyWatch::regroup() {
  auto groups = model::groups_of(streams_, targets_);
  if (groups == groups_) return;
  groups_ = std::move(groups);
  restart();
}

void JourneyWatch::begin(std::uint64_t open_ns) {
  if (std::exchange(open_ns_, open_ns) == open_ns) return;
  has_news_ = true;
  restart();
}

void JourneyWatch::restart() {
  if (rebuilder_) left_out_ += rebuilder_->late();
  rebuilder_.reset();
  links_ = std::make_shared<links::Resolver>(schema_, streams_);
  auto fresh = journeys::LiveRebuilder::create(
      schema_, journeys::Rules{}, {.open_ns = open_ns_, .groups = groups_}, *this,
      [links = links_](model::EventBatch& events) { links->resolve(events); });
  if (fresh) rebuilder_ = std::move(*fresh);
}

void JourneyWatch::take(const model::EventBatch& events) {
  if (std::exchange(is_behind_, false)) restart();
  if (rebuilder_) rebuilder_->take(events);
}

void JourneyWatch::skip(const model::EventBatch& events) {
  left_out_ += events.size();
  is_behind_ = true;
}

void JourneyWatch::advance(std::uint64_t watermark_ns) {
  if (!rebuilder_ || is_behind_) return;
  if (std::exchange(has_news_, false))
    for (std::size_t index = 0; index < conditions_.size(); ++index) {
      auto filter = filter::JourneyFilter::compile(
          conditions_[index], schema_,
          {.origin_ns = open_ns_, .streams = streams_, .threads = threads_, .more_threads = true});
      if (filter) filters_[index] = std::move(*filter);
    }
  rebuilder_->advance(watermark_ns);
}

void JourneyWatch::on_journey(const journeys::Journey& journey) {
  for (std::size_t index = 0; index < filters_.size(); ++index)
    if (filters_[index] && (*filters_[index])(journey)) fire_(index, journey.end_ns);
}

}  // namespace sojourn::capture
