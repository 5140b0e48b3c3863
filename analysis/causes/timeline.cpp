#include "analysis/causes/timeline.h"

#include <algorithm>

namespace sojourn::causes {

namespace {

constexpr std::uint64_t kShortCall = 1'000;  // ns: too short to make a packet late

std::uint64_t time_of(std::uint64_t ts_ns) {
  return ts_ns;
}
template <typename Entry>
  requires requires(const Entry& entry) { entry.end_ns; }
std::uint64_t time_of(const Entry& entry) {
  return entry.end_ns;
}
template <typename Entry>
  requires requires(const Entry& entry) { entry.ts_ns; }
std::uint64_t time_of(const Entry& entry) {
  return entry.ts_ns;
}

bool is_recorded(const model::Context& context, std::string_view family) {
  return std::ranges::any_of(context.families, [&](const model::ContextFamily& known) {
    return known.name == family && known.missing.empty();
  });
}

std::optional<std::size_t> number_field(const model::Schema& schema,
                                        const context::ContextPoints::Place& place) {
  return place.point ? schema.points[*place.point].field("number") : std::nullopt;
}

}  // namespace

Timeline::Timeline(const TraceMetadata& source, const journeys::Topology& topology, Limits limits)
    : source_(source),
      limits_(limits),
      pids_(model::pids_of(source.targets)),
      points_(source.schema),
      irq_number_(number_field(source.schema, points_.irq)),
      softirq_number_(number_field(source.schema, points_.softirq)),
      syscall_number_(number_field(source.schema, points_.syscall)),
      knows_states_(is_recorded(source.context, "sched") && points_.on_switch.point.has_value()),
      states_(source.schema, source.context, source.capture, pids_,
              [this](const context::ThreadSpan& span) {
                threads_[span.tid].spans.push_back(span);
                ++entries_;
              }) {
  for (std::size_t point = 0; point < source.schema.points.size(); ++point) {
    Plan& plan = plans_.emplace_back();
    plan.of_packets = topology.points[point].carries_units;
    if (!plan.of_packets) continue;
    if (const auto slot = source.schema.points[point].field(model::kSlotField))
      plan.slot = static_cast<std::uint8_t>(*slot);
  }
  for (const model::Stream& stream : source.streams) cpu_of_stream_[stream.id] = stream.cpu;
  for (const model::QueueChange& change : source.queue_changes)
    queues_[change.about.id].about = change.about;
}

void Timeline::consume(const model::EventBatch& events) {
  for (std::size_t row = 0; row < events.size(); ++row) note(events[row]);
  if (now_ns_ > limits_.span_ns) forget(now_ns_ - limits_.span_ns);
  while (entries_ > limits_.entries && begin_ns_ < now_ns_)
    forget(std::max(begin_ns_ + 1, now_ns_ - (now_ns_ - begin_ns_) / 4 * 3));
}

Timeline::Thread& Timeline::thread_of_packet(std::uint32_t tid) {
  if (last_ == nullptr || tid != last_tid_) {
    last_ = &threads_[tid];
    last_tid_ = tid;
  }
  return *last_;
}

void Timeline::note(const model::EventView& event) {
  if (begin_ns_ == 0)
    begin_ns_ = open_ns_ = source_.capture.open_ns != 0 ? source_.capture.open_ns : event.ts_ns;
  now_ns_ = std::max(now_ns_, event.ts_ns);
  if (event.point >= plans_.size()) return;
  const Plan& plan = plans_[event.point];
  if (plan.of_packets) {
    thread_of_packet(event.tid).events.push_back(event.ts_ns);
    ++entries_;
    if (plan.slot && *plan.slot < event.values.size())
      slots_.note(event.ts_ns, event.tid, event.values[*plan.slot]);
    return;
  }
  const auto known = cpu_of_stream_.find(event.stream);
  const std::int32_t cpu = known == cpu_of_stream_.end() ? -1 : known->second;
  states_.consume(event, cpu);
  note_context(event, cpu);
  if (const auto sample = model::queue_sample(source_.schema, event)) {
    queues_[sample->queue].samples.push_back({event.ts_ns, sample->depth()});
    ++entries_;
  }
}

void Timeline::note_context(const model::EventView& event, std::int32_t cpu) {
  const auto began = [&](std::uint64_t ns) { return event.ts_ns - std::min(ns, event.ts_ns); };
  const auto number = [&](const std::optional<std::size_t>& field) {
    return field && *field < event.values.size() ? static_cast<std::uint32_t>(event.values[*field])
                                                 : 0U;
  };
  if (points_.softirq.is(event)) {
    threads_[event.tid].interrupts.push_back(
        {event.ts_ns, began(points_.softirq.value(event, 0)), number(softirq_number_), true});
  } else if (points_.irq.is(event)) {
    if (points_.irq.value(event, 1) != 0) return;  // its time is part of the softirq's
    threads_[event.tid].interrupts.push_back(
        {event.ts_ns, began(points_.irq.value(event, 0)), number(irq_number_), false});
  } else if (points_.syscall.is(event)) {
    const std::uint64_t ns = points_.syscall.value(event, 0);
    if (ns < kShortCall) return;
    threads_[event.tid].calls.push_back({event.ts_ns, began(ns), number(syscall_number_)});
  } else if (points_.fault.is(event)) {
    threads_[event.tid].faults.push_back(event.ts_ns);
  } else if (points_.on_switch.is(event)) {
    const bool is_target = pids_.contains(points_.on_switch.value(event, 4));
    const auto next = static_cast<std::uint32_t>(points_.on_switch.value(event, 3));
    cpus_[cpu].push_back({event.ts_ns, is_target ? next : 0});
  } else {
    return;
  }
  ++entries_;
}

template <typename Entry>
void Timeline::drop_front(std::deque<Entry>& entries, std::uint64_t before_ns) {
  while (!entries.empty() && time_of(entries.front()) < before_ns) {
    entries.pop_front();
    --entries_;
  }
}

void Timeline::forget(std::uint64_t before_ns) {
  if (before_ns <= begin_ns_) return;
  begin_ns_ = before_ns;
  for (auto& [tid, thread] : threads_) {
    drop_front(thread.spans, before_ns);
    drop_front(thread.events, before_ns);
    drop_front(thread.interrupts, before_ns);
    drop_front(thread.calls, before_ns);
    drop_front(thread.faults, before_ns);
  }
  for (auto& [id, queue] : queues_) drop_front(queue.samples, before_ns);
  for (auto& [cpu, occupants] : cpus_) drop_front(occupants, before_ns);
}

const Timeline::Thread* Timeline::find(std::uint32_t tid) const {
  const auto found = threads_.find(tid);
  return found == threads_.end() ? nullptr : &found->second;
}

void Timeline::each_span(std::uint32_t tid, std::uint64_t from_ns, std::uint64_t to_ns,
                         const std::function<void(const context::ThreadSpan&)>& take) const {
  if (const Thread* thread = find(tid)) {
    auto span = std::ranges::upper_bound(thread->spans, from_ns, {}, &context::ThreadSpan::end_ns);
    for (; span != thread->spans.end() && span->begin_ns < to_ns; ++span) take(*span);
  }
  const auto last = states_.current(tid, now_ns_ + 1);
  if (last && last->begin_ns < to_ns && last->end_ns > from_ns) take(*last);
}

std::uint64_t Timeline::last_event_before(std::uint32_t tid, std::uint64_t ts_ns) const {
  const Thread* thread = find(tid);
  if (thread == nullptr) return 0;
  const auto after = std::ranges::lower_bound(thread->events, ts_ns);
  return after == thread->events.begin() ? 0 : *std::prev(after);
}

std::uint64_t Timeline::faults(std::uint32_t tid, std::uint64_t from_ns,
                               std::uint64_t to_ns) const {
  const Thread* thread = find(tid);
  if (thread == nullptr) return 0;
  return static_cast<std::uint64_t>(std::ranges::lower_bound(thread->faults, to_ns) -
                                    std::ranges::lower_bound(thread->faults, from_ns));
}

void Timeline::each_interrupt(std::uint32_t tid, std::uint64_t from_ns, std::uint64_t to_ns,
                              const std::function<void(const Interrupt&)>& take) const {
  const Thread* thread = find(tid);
  if (thread == nullptr) return;
  auto next = std::ranges::upper_bound(thread->interrupts, from_ns, {}, &Interrupt::end_ns);
  for (; next != thread->interrupts.end() && next->begin_ns < to_ns; ++next) take(*next);
}

std::optional<std::uint32_t> Timeline::call_around(std::uint32_t tid, std::uint64_t from_ns,
                                                   std::uint64_t to_ns) const {
  const Thread* thread = find(tid);
  if (thread == nullptr) return std::nullopt;
  const auto call = std::ranges::lower_bound(thread->calls, to_ns, {}, &Syscall::end_ns);
  if (call == thread->calls.end() || call->begin_ns > from_ns) return std::nullopt;
  return call->number;
}

bool Timeline::is_queue_of(const model::QueueInfo& about, const WaitingPlace& where) {
  if (about.is_place(where.place)) return true;
  if (about.is_group_of(where.place))
    return std::ranges::find(where.ids, about.group) != where.ids.end();
  return about.joins(where.from_thread, where.to_thread);
}

std::optional<std::uint64_t> Timeline::sampled_depth(const WaitingPlace& where,
                                                     std::uint64_t from_ns,
                                                     std::uint64_t to_ns) const {
  const Queue* meant = nullptr;
  for (const auto& [id, queue] : queues_) {
    if (!is_queue_of(queue.about, where) || queue.samples.empty()) continue;
    if (meant != nullptr) return std::nullopt;
    meant = &queue;
  }
  if (meant == nullptr) return std::nullopt;
  // A sample holds until the next one.
  auto sample = std::ranges::upper_bound(meant->samples, from_ns, {}, &Sample::ts_ns);
  if (sample != meant->samples.begin()) --sample;
  std::optional<std::uint64_t> most;
  for (; sample != meant->samples.end() && sample->ts_ns < to_ns; ++sample)
    most = std::max(most.value_or(0), sample->depth);
  return most;
}

void Timeline::each_occupant(std::int32_t cpu, std::uint64_t from_ns, std::uint64_t to_ns,
                             const std::function<void(std::uint32_t tid, std::uint64_t begin_ns,
                                                      std::uint64_t end_ns)>& take) const {
  const auto found = cpus_.find(cpu);
  if (found == cpus_.end()) return;
  const auto& occupants = found->second;
  auto next = std::ranges::upper_bound(occupants, from_ns, {}, &Occupant::ts_ns);
  if (next != occupants.begin()) --next;
  for (; next != occupants.end() && next->ts_ns < to_ns; ++next) {
    const auto after = std::next(next);
    const std::uint64_t end_ns = after == occupants.end() ? to_ns : std::min(to_ns, after->ts_ns);
    const std::uint64_t begin_ns = std::max(from_ns, next->ts_ns);
    if (begin_ns < end_ns && next->tid != 0) take(next->tid, begin_ns, end_ns);
  }
}

}  // namespace sojourn::causes
