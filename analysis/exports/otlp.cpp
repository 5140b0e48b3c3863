#include "analysis/exports/otlp.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "analysis/exports/mixed_bits.h"
#include "analysis/exports/safe_text.h"
#include "analysis/exports/trace_fingerprint.h"
#include "analysis/trace/completeness.h"

namespace sojourn::exports {

namespace {

OtlpAttribute text_attribute(std::string key, std::string_view text) {
  return {.key = std::move(key), .value = shown_text(text)};
}

OtlpAttribute number_attribute(std::string key, std::uint64_t number) {
  return {.key = std::move(key), .value = otlp_number(number)};
}

OtlpAttribute flag_attribute(std::string key) {
  return {.key = std::move(key), .value = true};
}

std::string named(model::Direction direction, std::string_view what) {
  return fmt::format("{} {}", letter(direction), shown_text(what));
}

// Each column that holds something.
void add_cells(OtlpAttributes& attributes, std::span<const Column> columns,
               std::span<const Cell> cells) {
  for (std::size_t at = 0; at < columns.size(); ++at) {
    const std::string key = shown_text(columns[at].name);
    if (const auto* number = std::get_if<std::uint64_t>(&cells[at]))
      attributes.push_back(number_attribute(key, *number));
    if (const auto* number = std::get_if<std::int64_t>(&cells[at]))
      attributes.push_back({.key = key, .value = *number});
  }
}

}  // namespace

OtlpTrace::OtlpTrace(const trace::Reader& reader, const journeys::Topology& topology,
                     const TraceNames& names, const JourneyChoice* choice, OtlpEncode encode,
                     WriteSpans write)
    : reader_(reader),
      topology_(topology),
      names_(names),
      choice_(choice),
      encode_(encode),
      write_(std::move(write)),
      packet_names_(reader.schema()),
      ids_(reader.schema(), "sojourn.id.", is_id_field),
      fields_(reader.schema(), "sojourn.field.", is_event_field),
      resource_(about_trace()),
      base_(trace_fingerprint(reader)) {
  for (const model::Point& point : reader.schema().points) points_.push_back(point.name());
}

OtlpAttributes OtlpTrace::about_trace() const {
  const auto whole = trace::completeness_of(reader_);
  const std::string_view path = reader_.path();
  OtlpAttributes about;
  about.push_back(text_attribute("service.name", reader_.target().name.empty()
                                                     ? std::string_view("unknown_service")
                                                     : reader_.target().name));
  if (!reader_.host().name.empty())
    about.push_back(text_attribute("host.name", reader_.host().name));
  if (reader_.target().pid != 0)
    about.push_back(
        number_attribute("process.pid", static_cast<std::uint64_t>(reader_.target().pid)));
  about.push_back(text_attribute("sojourn.trace", path.substr(path.rfind('/') + 1)));
  about.push_back(text_attribute("sojourn.tracer", reader_.capture().tracer));
  about.push_back(number_attribute("sojourn.events_lost", whole.lost_or_missing()));
  about.push_back({.key = "sojourn.is_whole", .value = whole.is_whole()});
  if (choice_ != nullptr) about.push_back(number_attribute("sojourn.packets", choice_->seen()));
  return about;
}

// The choice needs the journey's number, which it has only when it is reported.
bool OtlpTrace::is_chosen(const journeys::Journey& journey) const {
  return choice_ == nullptr || !choice_->why(journey.id).empty();
}

void OtlpTrace::on_journey(const journeys::Journey& journey) {
  if (!is_good() || journey.steps.empty() || !is_chosen(journey)) return;
  begin(journey);
  add_root(journey);
  for (std::size_t at = 0; at < journey.steps.size(); ++at) {
    const journeys::Step& step = journey.steps[at];
    const auto entered = topology_.points[step.point].place;
    if (journey.inside_until_ns != 0 && step.inside && entered)
      add_inside(step, *entered, journey.inside_until_ns);
    if (step.repeat_of != journeys::kNoStep)
      add_repeat(journey, at);
    else
      for (const std::uint32_t parent : step.parents) add_stay(journey.steps[parent], step, at);
  }
  for (const journeys::Meanwhile& made : journey.meanwhile) add_meanwhile(made);
}

// All times of a journey are placed by its start: a wall clock that was set meanwhile changes no
// span's length.
void OtlpTrace::begin(const journeys::Journey& journey) {
  const std::uint64_t low = mixed_bits(base_ ^ journey.id);
  current_.trace = {.high = base_ == 0 ? 1 : base_, .low = low};
  current_.spans = 0;
  current_.start_ns = journey.start_ns;
  current_.start_unix_ns = names_.unix_ns(journey.start_ns).value_or(0);
  current_.ended_by.assign(journey.steps.size(), 0);
  current_.linked_to.clear();
  ++traces_;
}

// The one number that mixes to 0, which is no id, becomes 1.
std::uint64_t OtlpTrace::span_id(std::uint64_t number) const {
  return std::max<std::uint64_t>(mixed_bits(current_.trace.low + number), 1);
}

OtlpSpan OtlpTrace::new_span(std::string name, std::uint64_t begin_ns, std::uint64_t end_ns) {
  const auto unix_ns = [this](std::uint64_t ts_ns) {
    return current_.start_unix_ns + (ts_ns - current_.start_ns);
  };
  OtlpSpan span;
  span.trace = current_.trace;
  span.id = span_id(current_.spans);
  span.parent = current_.spans == 0 ? 0 : root_id();
  ++current_.spans;
  span.name = std::move(name);
  span.begin_unix_ns = unix_ns(begin_ns);
  span.end_unix_ns = unix_ns(end_ns);
  return span;
}

void OtlpTrace::add_root(const journeys::Journey& journey) {
  OtlpSpan span = new_span(named(journey.direction, "packet"), journey.start_ns,
                           std::max(journey.end_ns, journey.inside_until_ns));
  OtlpAttributes& about = span.attributes;
  about.push_back(number_attribute("sojourn.journey", journey.id));
  about.push_back(text_attribute("sojourn.outcome", name(journey.outcome)));
  if (choice_ != nullptr)
    about.push_back(text_attribute("sojourn.chosen", choice_->why(journey.id)));
  if (journey.has_latency())
    about.push_back(number_attribute("sojourn.latency_ns", journey.latency_ns()));
  about.push_back(number_attribute("sojourn.segments", journey.segments));
  about.push_back(number_attribute("sojourn.retransmissions", journey.retransmissions));
  if (journey.ambiguous) about.push_back(flag_attribute("sojourn.ambiguous"));
  if (journey.headless) about.push_back(flag_attribute("sojourn.headless"));
  cells_.assign(ids_.columns().size(), Cell());
  ids_.fill(packet_names_.of(journey), cells_);
  add_cells(about, ids_.columns(), cells_);
  if (journey.outcome == journeys::Outcome::kDropped ||
      journey.outcome == journeys::Outcome::kIncomplete)
    span.error = name(journey.outcome);
  keep(std::move(span));
}

void OtlpTrace::add_stay(const journeys::Step& from, const journeys::Step& to,
                         std::size_t ended_by) {
  const journeys::Place& place = topology_.places[topology_.pair(from.point, to.point).place];
  OtlpSpan span = new_span(named(place.direction, place.name), from.entered_ns, to.ts_ns);
  add_step(span, from);
  span.attributes.push_back(text_attribute("sojourn.to_point", points_[to.point]));
  add_fields(span, to.point, to.values);
  current_.ended_by[ended_by] = span.id;
  link_to_sharers(span, to);
  keep(std::move(span));
}

void OtlpTrace::add_inside(const journeys::Step& step, std::uint16_t place,
                           std::uint64_t until_ns) {
  const journeys::Place& in = topology_.places[place];
  OtlpSpan span = new_span(named(in.direction, in.name), step.entered_ns, until_ns);
  add_step(span, step);
  span.attributes.push_back(flag_attribute("sojourn.inside"));
  keep(std::move(span));
}

// From the earlier transmission to this one.
void OtlpTrace::add_repeat(const journeys::Journey& journey, std::size_t at) {
  const journeys::Step& step = journey.steps[at];
  const journeys::Step& earlier = journey.steps[step.repeat_of];
  OtlpSpan span = new_span(named(journey.direction, points_[step.point] + " again"),
                           std::min(earlier.ts_ns, step.ts_ns), step.ts_ns);
  add_step(span, earlier);
  span.attributes.push_back(text_attribute("sojourn.to_point", points_[step.point]));
  add_fields(span, step.point, step.values);
  // If no event of the earlier transmission was seen, the repeat is linked to the packet's root.
  const std::uint64_t before = current_.ended_by[step.repeat_of];
  span.links.push_back(
      {.trace = current_.trace, .span = before == 0 ? root_id() : before, .why = "repeat"});
  current_.ended_by[at] = span.id;
  link_to_sharers(span, step);
  keep(std::move(span));
}

// A marker is a span that takes no time.
void OtlpTrace::add_meanwhile(const journeys::Meanwhile& made) {
  OtlpSpan span =
      new_span(named(model::Direction::kScript, points_[made.point]), made.begin_ns, made.end_ns);
  add_thread(span, made.tid);
  add_fields(span, made.point, made.values);
  keep(std::move(span));
}

void OtlpTrace::add_step(OtlpSpan& span, const journeys::Step& from) {
  span.attributes.push_back(text_attribute("sojourn.from_point", points_[from.point]));
  add_thread(span, from.tid);
}

void OtlpTrace::add_thread(OtlpSpan& span, std::uint32_t tid) {
  span.attributes.push_back(number_attribute("thread.id", tid));
  if (const std::string_view thread = names_.thread(tid); !thread.empty())
    span.attributes.push_back(text_attribute("thread.name", thread));
}

void OtlpTrace::add_fields(OtlpSpan& span, model::PointId point,
                           std::span<const std::uint64_t> values) {
  cells_.assign(fields_.columns().size(), Cell());
  fields_.fill(point, values, cells_);
  add_cells(span.attributes, fields_.columns(), cells_);
}

// All packets of a block share the events of the block's way. Two packets are linked once, at the
// first event that they share.
void OtlpTrace::link_to_sharers(OtlpSpan& span, const journeys::Step& step) {
  const EventKey key(step.stream, step.seq);
  const auto [found, is_new] = shared_.try_emplace(key);
  if (is_new) {
    shared_order_.push_back(key);
    if (shared_order_.size() > kMaxSharedEvents) {
      shared_.erase(shared_order_.front());
      shared_order_.pop_front();
    }
  }
  std::vector<SharedSpan>& sharers = found->second;
  for (const SharedSpan& other : sharers) {
    if (other.trace == current_.trace || span.links.size() >= kMaxLinks) continue;
    if (std::ranges::find(current_.linked_to, other.trace.low) != current_.linked_to.end())
      continue;
    span.links.push_back({.trace = other.trace, .span = other.span, .why = "same block"});
    current_.linked_to.push_back(other.trace.low);
  }
  if (sharers.size() < kMaxLinks) sharers.push_back({.trace = span.trace, .span = span.id});
}

void OtlpTrace::keep(OtlpSpan span) {
  spans_.push_back(std::move(span));
  if (spans_.size() == kMaxSpans) write_batch();
}

void OtlpTrace::write_batch() {
  if (spans_.empty() || !is_good()) return;
  written_ = write_(encode_(resource_, spans_), spans_.size());
  if (written_) spans_written_ += spans_.size();
  spans_.clear();
}

Result<void> OtlpTrace::finish() {
  write_batch();
  return std::move(written_);
}

}  // namespace sojourn::exports
