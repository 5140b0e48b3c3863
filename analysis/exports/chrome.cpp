#include "analysis/exports/chrome.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "analysis/exports/safe_text.h"
#include "analysis/trace/completeness.h"

namespace sojourn::exports {

namespace {

constexpr std::size_t kLongPieceBytes = 64 * 1024;

// Keeps characters as they are: some readers stop at those that JSON writes as two escapes.
std::string json_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : shown_text(text)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

// Microseconds, as the format has them, with all nanoseconds.
void append_time(std::string& out, std::string_view key, std::uint64_t ns) {
  fmt::format_to(std::back_inserter(out), ",\"{}\":{}.{:03}", key, ns / 1000, ns % 1000);
}

}  // namespace

ChromeTrace::ChromeTrace(const trace::Reader& reader, const journeys::Topology& topology,
                         const TraceNames& names, Write write)
    : reader_(reader), topology_(topology), names_(names), write_(std::move(write)) {
  for (const journeys::Place& place : topology.places) places_.push_back(json_text(place.name));
  const auto& points = reader.schema().points;
  first_made_ = static_cast<std::size_t>(
      std::ranges::find(points, model::Direction::kScript, &model::Point::direction) -
      points.begin());
  text_ = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  for (const model::Target& target : reader.targets()) {
    if (target.pid == 0) continue;
    begin_event();
    text_ += fmt::format(R"("ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})",
                         target.pid, json_text(target.name));
  }
}

void ChromeTrace::begin_event() {
  text_ += is_first_ ? "{" : ",\n{";
  is_first_ = false;
}

void ChromeTrace::describe(std::uint32_t stream, std::uint32_t tid) {
  const auto pid = static_cast<std::uint32_t>(names_.pid(stream, tid).value_or(0));
  if (!described_.insert(std::uint64_t{pid} << 32U | tid).second) return;
  const std::string_view name = names_.thread(tid);
  if (name.empty()) return;
  begin_event();
  text_ += fmt::format(R"("ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})",
                       pid, tid, json_text(name));
}

// A begin and an end with an id of their own: readers pair events of one id by nesting, but stays
// of one journey may overlap.
void ChromeTrace::add_slice(std::string_view name, const journeys::Journey& journey,
                            const journeys::Step& by, std::uint64_t begin_ns,
                            std::uint64_t end_ns) {
  const auto pid = names_.pid(by.stream, by.tid).value_or(0);
  ++last_id_;
  const auto edge = [&](char phase, std::uint64_t ts_ns) {
    begin_event();
    text_ += fmt::format(R"("ph":"{}","cat":"{}","id":{},"name":{},"pid":{},"tid":{})", phase,
                         letter(journey.direction), last_id_, name, pid, by.tid);
    append_time(text_, "ts", ts_ns);
  };
  edge('b', begin_ns);
  text_ += fmt::format(R"(,"args":{{"journey":{},"outcome":"{}","ns":{}}}}})", journey.id,
                       journeys::name(journey.outcome), end_ns - begin_ns);
  edge('e', end_ns);
  text_ += '}';
}

void ChromeTrace::on_journey(const journeys::Journey& journey) {
  if (!is_good() || journey.steps.empty()) return;
  for (const journeys::Step& step : journey.steps) describe(step.stream, step.tid);
  add_slice("\"packet\"", journey, journey.steps.front(), journey.start_ns,
            std::max(journey.end_ns, journey.inside_until_ns));
  add_stays(journey);
  write_if_long();
}

void ChromeTrace::add_stays(const journeys::Journey& journey) {
  for (const journeys::Step& step : journey.steps) {
    const auto entered = topology_.points[step.point].place;
    if (journey.inside_until_ns != 0 && step.inside && entered)
      add_slice(places_[*entered], journey, step, step.entered_ns, journey.inside_until_ns);
    if (step.repeat_of != journeys::kNoStep) continue;
    for (const std::uint32_t parent : step.parents) {
      const journeys::Step& from = journey.steps[parent];
      add_slice(places_[topology_.pair(from.point, step.point).place], journey, from,
                from.entered_ns, step.ts_ns);
    }
  }
}

void ChromeTrace::consume(const model::EventBatch& events) {
  if (first_made_ == reader_.schema().points.size()) return;
  for (std::size_t row = 0; row < events.size(); ++row)
    if (events.point()[row] >= first_made_) add_made(events[row]);
  write_if_long();
}

// An activity is a pair like a stay, a marker an asynchronous instant.
void ChromeTrace::add_made(const model::EventView& event) {
  const model::Point& point = reader_.schema().points[event.point];
  describe(event.stream, event.tid);
  const auto duration = point.field(model::kDurationField);
  const auto pid = names_.pid(event.stream, event.tid).value_or(0);
  ++last_id_;
  const auto edge = [&](char phase, std::uint64_t ts_ns) {
    begin_event();
    text_ += fmt::format(R"("ph":"{}","cat":"A","id":{},"name":{},"pid":{},"tid":{})", phase,
                         last_id_, json_text(point.name()), pid, event.tid);
    append_time(text_, "ts", ts_ns);
  };
  edge(duration ? 'b' : 'n', event.ts_ns - (duration ? event.values[*duration] : 0));
  text_ += ",\"args\":{";
  for (std::size_t field = 0; field < point.fields.size(); ++field)
    text_ += fmt::format("{}{}:{}", field == 0 ? "" : ",", json_text(point.fields[field].name),
                         static_cast<std::int64_t>(event.values[field]));
  text_ += "}}";
  if (!duration) return;
  edge('e', event.ts_ns);
  text_ += '}';
}

void ChromeTrace::write_if_long() {
  if (text_.size() < kLongPieceBytes) return;
  written_ = write_(text_);
  text_.clear();
}

Result<void> ChromeTrace::finish() {
  SJ_CHECK(std::move(written_));
  const auto whole = trace::completeness_of(reader_);
  text_ +=
      fmt::format(R"(
],"otherData":{{"tracer":{},"clock":"CLOCK_MONOTONIC","events_lost":{},"is_whole":{}}}}}
)",
                  json_text(reader_.capture().tracer), whole.lost_or_missing(), whole.is_whole());
  return write_(text_);
}

}  // namespace sojourn::exports
