#include "analysis/context/thread_times.h"

#include <algorithm>

namespace sojourn::context {

ThreadTimes::ThreadTimes(const model::Schema& schema, const model::Context& context,
                         const std::vector<model::Stream>& streams, const model::Capture& capture,
                         const model::Pids& pids)
    : points_(schema),
      pids_(pids),
      open_ns_(capture.open_ns),
      families_(context.families),
      states_(schema, context, capture, pids, [this](const ThreadSpan& span) {
        ThreadTime& time = threads_[span.tid];
        const std::uint64_t ns = span.end_ns - span.begin_ns;
        if (span.state == State::kRunning) time.running_ns += ns;
        if (span.state == State::kRunnable) time.runnable_ns += ns;
        if (span.state == State::kBlocked) time.blocked_ns += ns;
        if (span.state == State::kUnknown) time.unknown_ns += ns;
      }) {
  for (const model::Stream& stream : streams) cpu_of_stream_[stream.id] = stream.cpu;
  // Names of threads of the target's processes; the newest counts.
  for (const model::ContextName& name : context.names)
    if (name.kind == model::NameKind::kThread && pids_.contains(name.pid))
      threads_[static_cast<std::uint32_t>(name.id)].name = name.name;
}

bool ThreadTimes::has(std::string_view family) const {
  return std::ranges::any_of(families_, [&](const model::ContextFamily& known) {
    return known.name == family && known.missing.empty();
  });
}

void ThreadTimes::count(const model::EventView& event) {
  if (points_.on_switch.is(event)) {
    if (!pids_.contains(points_.on_switch.value(event, 1))) return;
    const std::uint64_t state = points_.on_switch.value(event, 2);
    ThreadTime& left = threads_[event.tid];
    ++left.switches;
    left.preempted += state == 0 || state == 0x100 ? 1 : 0;
    return;
  }
  const auto is_of_target = threads_.find(event.tid);
  if (is_of_target == threads_.end()) return;
  ThreadTime& time = is_of_target->second;
  const auto since_open = [&](std::uint64_t ns) { return std::min(ns, event.ts_ns - open_ns_); };
  if (points_.wakeup.is(event))
    ++time.wakeups;
  else if (points_.migrate.is(event))
    ++time.migrations;
  else if (points_.syscall.is(event))
    ++time.syscalls;
  else if (points_.fault.is(event))
    ++time.faults;
  else if (points_.softirq.is(event))
    time.interrupted_ns += since_open(points_.softirq.value(event, 0));
  else if (points_.irq.is(event) && points_.irq.value(event, 1) == 0)
    time.interrupted_ns += since_open(points_.irq.value(event, 0));
}

void ThreadTimes::consume(const model::EventBatch& events) {
  for (std::size_t row = 0; row < events.size(); ++row) {
    if (!points_.has(events.point()[row])) continue;
    const model::EventView event = events[row];
    const auto cpu = cpu_of_stream_.find(event.stream);
    states_.consume(event, cpu == cpu_of_stream_.end() ? -1 : cpu->second);
    count(event);
  }
}

// Only a running thread is interrupted, so that time is taken from its running.
void ThreadTimes::finish(std::uint64_t end_ns) {
  states_.finish(end_ns);
  for (auto& [tid, time] : threads_)
    time.running_ns -= std::min(time.running_ns, time.interrupted_ns);
}

}  // namespace sojourn::context
