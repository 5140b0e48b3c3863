#include "analysis/exports/perfetto.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "analysis/exports/trace_fingerprint.h"
#include "analysis/model/queue_info.h"
#include "analysis/trace/completeness.h"

namespace sojourn::exports {

namespace {

using Kind = PerfettoPackets::Kind;

// Tracks count from the sum of this and the trace's own number, so that two traces that are looked
// at together have tracks of their own. All of these numbers take five bytes in the format.
constexpr std::uint64_t kTrackBase = std::uint64_t{1} << 28U;

bool has_switches(const model::Schema& schema) {
  return context::ContextPoints(schema).on_switch.point.has_value();
}

PerfettoPackets::TaskState task_state(context::State state) {
  switch (state) {
    case context::State::kRunning:
      return PerfettoPackets::TaskState::kRunning;
    case context::State::kRunnable:
      return PerfettoPackets::TaskState::kRunnable;
    case context::State::kBlocked:
      return PerfettoPackets::TaskState::kSleeping;
    case context::State::kGone:
      return PerfettoPackets::TaskState::kDead;
    case context::State::kUnknown:
      return PerfettoPackets::TaskState::kUnknown;
  }
  return PerfettoPackets::TaskState::kUnknown;
}

}  // namespace

PerfettoTrace::PerfettoTrace(const trace::Reader& reader, const journeys::Topology& topology,
                             const TraceNames& names, Write write)
    : reader_(reader),
      topology_(topology),
      names_(names),
      packets_(std::move(write)),
      last_track_(kTrackBase + (trace_fingerprint(reader) & 0x3FFFFFFFU)),
      flow_base_(trace_fingerprint(reader) << 32U),
      down_{.name = "D packets", .lanes = {}, .tracks = {}},
      up_{.name = "U packets", .lanes = {}, .tracks = {}},
      losses_{.name = "events lost", .lanes = {}, .tracks = {}} {
  describe_trace();
  for (const journeys::Place& place : topology.places) {
    places_.push_back({.name = fmt::format("{} {}", letter(place.direction), place.name),
                       .lanes = {},
                       .tracks = {}});
    place_names_.push_back(packets_.name(place.name));
  }
  for (const model::Point& point : reader.schema().points)
    point_names_.push_back(packets_.name(point.name()));
  describe_script();
  if (has_switches(reader.schema()))
    states_.emplace(reader.schema(), reader.context(), reader.capture(),
                    model::pids_of(reader.targets()),
                    [this](const context::ThreadSpan& span) { take_span(span); });
}

void PerfettoTrace::describe_trace() {
  packets_.clocks(reader_.clocks(), reader_.capture().open_ns);
  packets_.attribute("tracer", reader_.capture().tracer);
  packets_.attribute("trace", reader_.path().substr(reader_.path().rfind('/') + 1));
  packets_.attribute("host", reader_.host().name);
  for (const model::Target& target : reader_.targets())
    if (target.pid != 0) process_track(target.pid);
}

// Each pid has one track, even if it was reused.
std::uint64_t PerfettoTrace::process_track(std::int32_t pid) {
  const auto [found, is_new] = processes_.try_emplace(pid, 0);
  if (!is_new) return found->second;
  found->second = new_track();
  const auto& targets = reader_.targets();
  const auto target = std::ranges::find(targets, pid, &model::Target::pid);
  const bool is_known = target != targets.end();
  packets_.process(found->second, pid, is_known ? target->name : "",
                   is_known ? target->cmdline : std::vector<std::string>());
  return found->second;
}

// A thread of no known process is a track like any other.
std::uint64_t PerfettoTrace::thread_track(std::uint32_t stream, std::uint32_t tid) {
  const std::int32_t pid = names_.pid(stream, tid).value_or(reader_.target().pid);
  const std::uint64_t key = std::uint64_t{static_cast<std::uint32_t>(pid)} << 32U | tid;
  const auto [found, is_new] = threads_.try_emplace(key, 0);
  if (!is_new) return found->second;
  if (pid != 0) process_track(pid);
  found->second = new_track();
  const std::string name(names_.thread(tid));
  if (pid != 0)
    packets_.thread(found->second, pid, tid, name);
  else
    packets_.track(found->second, 0, name.empty() ? fmt::format("thread {}", tid) : name);
  return found->second;
}

void PerfettoTrace::add_slice(LaneGroup& group, std::uint64_t begin_ns, std::uint64_t end_ns,
                              std::uint32_t name, std::uint64_t journey,
                              std::span<const PerfettoPackets::ArgumentValue> arguments) {
  const std::size_t lane = group.lanes.take(begin_ns, end_ns);
  if (lane == group.tracks.size()) {
    group.tracks.push_back(new_track());
    const std::int32_t pid = reader_.target().pid;
    packets_.track(group.tracks.back(), pid == 0 ? 0 : process_track(pid), group.name);
  }
  const std::uint64_t track = group.tracks[lane];
  packets_.add(
      {.ts_ns = begin_ns, .track = track, .number = journey, .name = name, .kind = Kind::kBegin},
      arguments);
  packets_.add({.ts_ns = end_ns, .track = track, .kind = Kind::kEnd});
}

void PerfettoTrace::on_journey(const journeys::Journey& journey) {
  if (!is_good()) return;
  add_steps(journey);
  add_stays(journey);
  LaneGroup& group = journey.direction == model::Direction::kUplink ? up_ : down_;
  add_slice(group, journey.start_ns, std::max(journey.end_ns, journey.inside_until_ns),
            packets_.name(name(journey.outcome)), journey.id);
}

void PerfettoTrace::add_steps(const journeys::Journey& journey) {
  const bool flows = journey.steps.size() > 1;
  for (std::size_t at = 0; at < journey.steps.size(); ++at) {
    const journeys::Step& step = journey.steps[at];
    packets_.add({.ts_ns = step.ts_ns,
                  .track = thread_track(step.stream, step.tid),
                  .number = flows ? flow_base_ + journey.id : 0,
                  .name = point_names_[step.point],
                  .kind = Kind::kInstant,
                  .is_last = at + 1 == journey.steps.size()});
  }
}

void PerfettoTrace::add_stays(const journeys::Journey& journey) {
  for (const journeys::Step& step : journey.steps) {
    const auto entered = topology_.points[step.point].place;
    if (journey.inside_until_ns != 0 && step.inside && entered)
      add_slice(places_[*entered], step.entered_ns, journey.inside_until_ns, place_names_[*entered],
                journey.id);
    if (step.repeat_of != journeys::kNoStep) continue;
    for (const std::uint32_t parent : step.parents) {
      const journeys::Step& from = journey.steps[parent];
      const std::uint16_t place = topology_.pair(from.point, step.point).place;
      add_slice(places_[place], from.entered_ns, step.ts_ns, place_names_[place], journey.id);
    }
  }
}

void PerfettoTrace::consume(const model::EventBatch& events) {
  for (std::size_t row = 0; row < events.size(); ++row) {
    const model::EventView event = events[row];
    if (states_) states_->consume(event, names_.cpu(event.stream).value_or(-1));
    count_queue(event);
    add_made(event);
  }
  if (!events.empty()) last_ns_ = events.ts_ns().back();
}

// A script's points are at the end of the schema.
void PerfettoTrace::describe_script() {
  const auto& points = reader_.schema().points;
  const auto first = std::ranges::find(points, model::Direction::kScript, &model::Point::direction);
  first_made_ = static_cast<std::size_t>(first - points.begin());
  for (auto point = first; point != points.end(); ++point) {
    Made made = {.name = packets_.name(point->name()),
                 .duration = point->field(model::kDurationField),
                 .arguments = {},
                 .lanes = {.name = "A " + point->name(), .lanes = {}, .tracks = {}}};
    for (const model::Field& field : point->fields)
      made.arguments.push_back(packets_.argument_name(field.name));
    made_.push_back(std::move(made));
  }
}

void PerfettoTrace::add_made(const model::EventView& event) {
  if (event.point < first_made_ || event.point - first_made_ >= made_.size()) return;
  Made& made = made_[event.point - first_made_];
  arguments_.clear();
  for (std::size_t field = 0; field < event.values.size(); ++field)
    if (field != made.duration)
      arguments_.push_back({made.arguments[field], static_cast<std::int64_t>(event.values[field])});
  if (made.duration)
    add_slice(made.lanes, event.ts_ns - event.values[*made.duration], event.ts_ns, made.name, 0,
              arguments_);
  else
    packets_.add({.ts_ns = event.ts_ns,
                  .track = thread_track(event.stream, event.tid),
                  .name = made.name,
                  .kind = Kind::kInstant},
                 arguments_);
}

void PerfettoTrace::count_queue(const model::EventView& event) {
  const auto sample = model::queue_sample(reader_.schema(), event);
  if (!sample) return;
  const auto [found, is_new] = queues_.try_emplace(sample->queue, 0);
  if (is_new) {
    model::QueueInfo about;
    about.id = sample->queue;
    for (const model::QueueChange& change : reader_.queue_changes())
      if (change.about.id == sample->queue) about = change.about;
    found->second = new_track();
    const std::int32_t pid = reader_.target().pid;
    packets_.counter(found->second, pid == 0 ? 0 : process_track(pid), about.shown_name());
  }
  packets_.add({.ts_ns = event.ts_ns,
                .track = found->second,
                .number = sample->depth(),
                .kind = Kind::kCount});
}

// The reader treats an unchanged state as a loss, and a thread that has ended as one that does not
// come back.
void PerfettoTrace::take_span(const context::ThreadSpan& span) {
  const auto [found, is_new] = states_by_thread_.try_emplace(span.tid, context::State::kGone);
  if (std::exchange(found->second, span.state) == span.state) return;
  const std::string name(names_.thread(span.tid));
  packets_.task(span.begin_ns, span.tid, name, task_state(span.state), span.cpu);
}

// Names the losses, with their streams and points.
void PerfettoTrace::describe_losses() {
  const auto whole = trace::completeness_of(reader_);
  packets_.attribute("events_lost", static_cast<std::int64_t>(whole.lost_or_missing()));
  packets_.attribute("is_whole", whole.is_whole() ? "yes" : "no");
  for (const trace::Gap& gap : reader_.gaps())
    if (gap.after_ns != 0 && gap.before_ns >= gap.after_ns)
      add_slice(losses_, gap.after_ns, gap.before_ns,
                packets_.name(fmt::format("{} lost in stream {}", gap.count, gap.stream)), 0);
}

Result<void> PerfettoTrace::finish() {
  if (states_) states_->finish(std::max(last_ns_, reader_.capture().close_ns));
  describe_losses();
  return packets_.finish();
}

}  // namespace sojourn::exports
