#include "analysis/context/thread_states.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace sojourn::context {

namespace {

// Values of sched.switch's state; see bpf/context_events.h.
constexpr std::uint64_t kStillWanted = 0;
constexpr std::uint64_t kPreempted = 0x100;
constexpr std::uint64_t kEnded = 0x80;

// Values of sched.wakeup's `from`.
constexpr std::uint64_t kByThread = 0;
constexpr std::uint64_t kBySoftirq = 1;
constexpr std::uint64_t kByInterrupt = 2;
constexpr std::uint64_t kByCreation = 3;

Waker waker_of(std::uint64_t from) {
  if (from == kByThread || from == kByCreation) return Waker::kThread;
  if (from == kBySoftirq) return Waker::kSoftirq;
  return from == kByInterrupt ? Waker::kInterrupt : Waker::kUnknown;
}

ContextPoints::Place find_place(const model::Schema& schema, std::string_view name,
                                std::initializer_list<std::string_view> fields) {
  ContextPoints::Place place;
  const auto found = std::ranges::find_if(schema.points, [&](const model::Point& point) {
    return point.direction == model::Direction::kContext && point.src == name &&
           std::ranges::all_of(fields, [&](auto field) { return point.field(field).has_value(); });
  });
  if (found == schema.points.end()) return place;
  place.point = static_cast<model::PointId>(found - schema.points.begin());
  for (const std::string_view field : fields) {
    place.fields.push_back(*found->field(field));
    place.last = std::max(place.last, place.fields.back());
  }
  return place;
}

}  // namespace

bool waits_in(std::uint64_t switch_state) {
  return switch_state != kStillWanted && switch_state != kPreempted;
}

ContextPoints::ContextPoints(const model::Schema& schema)
    : on_switch(
          find_place(schema, "sched.switch", {"prev", "prev_pid", "state", "next", "next_pid"})),
      wakeup(find_place(schema, "sched.wakeup", {"waker", "from", "cpu"})),
      migrate(find_place(schema, "sched.migrate", {"from", "to"})),
      irq(find_place(schema, "irq", {"ns", "nested"})),
      softirq(find_place(schema, "softirq", {"ns"})),
      syscall(find_place(schema, "syscall", {"ns"})),
      fault(find_place(schema, "fault", {"address"})),
      is_one_(schema.points.size(), false) {
  for (const Place* place : {&on_switch, &wakeup, &migrate, &irq, &softirq, &syscall, &fault})
    if (place->point) is_one_[*place->point] = true;
}

ThreadStates::ThreadStates(const model::Schema& schema, const model::Context& context,
                           const model::Capture& capture, const model::Pids& pids, Take take)
    : points_(schema), pids_(pids), open_ns_(capture.open_ns), take_(std::move(take)) {
  if (!points_.on_switch.point) return;
  // A thread without events was in the state that it had just before the open mark.
  for (const model::ContextName& name : context.names) {
    if (name.kind != model::NameKind::kThread || !pids_.contains(name.pid) || name.state.empty())
      continue;
    Thread& known = thread(static_cast<std::uint32_t>(name.id));
    known.since_ns = std::max(known.since_ns, pids_.at(name.pid));
    known.state = name.state == "R" ? State::kRunning : State::kBlocked;
  }
}

ThreadStates::Thread& ThreadStates::thread(std::uint32_t tid) {
  return threads_.try_emplace(tid, Thread{.since_ns = open_ns_}).first->second;
}

// The thread was in `was` and is in `next`. At its first event it has been in `was` since the open
// mark, because no event can have been missed. Later, a contradiction shows that one was lost.
void ThreadStates::change_state(std::uint32_t tid, std::uint64_t ts_ns, State was, State next) {
  Thread& turning = thread(tid);
  const State before = turning.is_first || turning.state == was ? was : State::kUnknown;
  if (ts_ns > turning.since_ns)
    take_({.tid = tid,
           .state = before,
           .begin_ns = turning.since_ns,
           .end_ns = ts_ns,
           .cpu = turning.cpu,
           .by = turning.by,
           .waker = turning.waker,
           .was_running = turning.was_running});
  turning.was_running = was == State::kRunning && next == State::kRunnable;
  turning.waker = Waker::kThread;
  turning.state = next;
  turning.is_first = false;
  turning.since_ns = std::max(ts_ns, turning.since_ns);
  turning.by = 0;
}

void ThreadStates::on_switch(const model::EventView& event, std::int32_t cpu) {
  const auto& place = points_.on_switch;
  const auto prev = static_cast<std::uint32_t>(place.value(event, 0));
  const auto next = static_cast<std::uint32_t>(place.value(event, 3));
  const std::uint64_t state = place.value(event, 2);
  if (pids_.contains(place.value(event, 1))) {
    thread(prev).cpu = cpu;
    const bool wants_to_run = !waits_in(state);
    change_state(prev, event.ts_ns, State::kRunning,
                 wants_to_run            ? State::kRunnable
                 : (state & kEnded) != 0 ? State::kGone
                                         : State::kBlocked);
    if (wants_to_run) thread(prev).by = next;
  }
  if (pids_.contains(place.value(event, 4))) {
    Thread& taking = thread(next);
    // The thread that leaves the CPU had it while this one waited.
    if ((taking.is_first || taking.state == State::kRunnable) && taking.by == 0) taking.by = prev;
    change_state(next, event.ts_ns, State::kRunnable, State::kRunning);
    taking.cpu = cpu;
  }
}

void ThreadStates::on_wakeup(const model::EventView& event) {
  const auto& place = points_.wakeup;
  const bool is_made = place.value(event, 1) == kByCreation;
  Thread& woken = thread(event.tid);
  // A thread that is woken before it sleeps goes on.
  if (!woken.is_first && (woken.state == State::kRunning || woken.state == State::kRunnable))
    return;
  if (is_made) woken.state = State::kGone;
  woken.by = static_cast<std::uint32_t>(place.value(event, 0));
  woken.waker = waker_of(place.value(event, 1));
  change_state(event.tid, event.ts_ns, is_made ? State::kGone : State::kBlocked, State::kRunnable);
  woken.cpu = static_cast<std::int32_t>(place.value(event, 2));
}

void ThreadStates::consume(const model::EventView& event, std::int32_t cpu) {
  if (points_.on_switch.is(event))
    on_switch(event, cpu);
  else if (points_.wakeup.is(event))
    on_wakeup(event);
}

std::optional<ThreadSpan> ThreadStates::current(std::uint32_t tid, std::uint64_t now_ns) const {
  const auto found = threads_.find(tid);
  if (found == threads_.end() || now_ns <= found->second.since_ns) return std::nullopt;
  const Thread& thread = found->second;
  return ThreadSpan{.tid = tid,
                    .state = thread.state,
                    .begin_ns = thread.since_ns,
                    .end_ns = now_ns,
                    .cpu = thread.cpu,
                    .by = thread.by,
                    .waker = thread.waker,
                    .was_running = thread.was_running};
}

void ThreadStates::finish(std::uint64_t end_ns) {
  for (auto& [tid, last] : threads_) change_state(tid, end_ns, last.state, last.state);
}

}  // namespace sojourn::context
