#include "analysis/threads/thread_survey.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

namespace sojourn::threads {

namespace {

using context::State;
using context::ThreadSpan;
using context::Waker;

// Edges beyond this are only counted.
constexpr std::size_t kMaxEdges = 4096;
constexpr std::size_t kMaxPaths = 256;
constexpr std::size_t kMaxFutexes = 65'536;
constexpr std::size_t kMaxTraffic = 65'536;
constexpr std::size_t kMaxHops = 8;
constexpr std::size_t kMaxReactions = 16'384;
constexpr std::size_t kMaxReacted = 64;  // after one wakeup
constexpr std::size_t kMaxWaits = 64;    // between two system calls: the next call settles them

// Input that was not sent on within this time makes no path through the program any more.
constexpr std::uint64_t kMaxWayNs = 1'000'000'000;

// FUTEX_WAIT, FUTEX_LOCK_PI, FUTEX_LOCK_PI2. The C library's condition variables, semaphores and
// joins wait by FUTEX_WAIT_BITSET, its locks by these.
constexpr std::uint64_t kFutexCommand = 0x7f;
bool waits_as_lock(std::uint64_t op) {
  const std::uint64_t command = op & kFutexCommand;
  return command == 0 || command == 6 || command == 13;
}

std::optional<std::size_t> field_of(const model::Schema& schema,
                                    const context::ContextPoints::Place& place,
                                    std::string_view name) {
  return place.point ? schema.points[*place.point].field(name) : std::nullopt;
}

}  // namespace

std::string_view name(WakeCause cause) {
  constexpr std::array<std::string_view, kWakeCauses> kWords = {"timer", "network", "thread",
                                                                "interrupt", "unknown"};
  return kWords[static_cast<std::size_t>(cause)];
}

std::uint64_t ThreadActivity::all_wakes() const {
  return std::accumulate(wakes.begin(), wakes.end(), std::uint64_t{0});
}

bool Futex::is_lock() const {
  return 2 * as_lock > waits &&
         std::ranges::any_of(waiters, [this](std::uint32_t tid) { return wakers.contains(tid); });
}

ThreadSurvey::ThreadSurvey(const model::Schema& schema, const model::Context& context,
                           const std::vector<model::Stream>& streams, const model::Capture& capture,
                           const model::Pids& pids, ActivitySelection selection)
    : calls_(context),
      points_(schema),
      number_field_(field_of(schema, points_.syscall, "number")),
      result_field_(field_of(schema, points_.syscall, "result")),
      arg0_field_(field_of(schema, points_.syscall, "arg0")),
      op_field_(field_of(schema, points_.syscall, "op")),
      pids_(pids),
      selection_(std::move(selection)),
      open_ns_(capture.open_ns),
      knows_states_(points_.on_switch.point && points_.wakeup.point),
      knows_calls_(points_.syscall.point && number_field_ && result_field_),
      states_(schema, context, capture, pids, [this](const ThreadSpan& span) { take(span); }) {
  for (const model::Point& point : schema.points)
    point_names_.push_back(is_of_target(point.direction) ? point.name() : std::string());
  for (const model::Stream& stream : streams) cpu_of_stream_[stream.id] = stream.cpu;
  for (const model::ContextName& name : context.names)
    if (name.kind == model::NameKind::kThread && !name.name.empty())
      names_[static_cast<std::uint32_t>(name.id)] = {name.pid, name.name};
  for (const auto& [tid, of] : names_)
    if (pids_.contains(of.first)) activity(tid);
}

ThreadActivity& ThreadSurvey::activity(std::uint32_t tid) {
  const auto [entry, is_new] = activities_.try_emplace(tid);
  if (is_new) {
    const auto known = names_.find(tid);
    if (known != names_.end()) {
      entry->second.pid = known->second.first;
      entry->second.name = known->second.second;
    } else if (!pids_.empty()) {
      entry->second.pid = pids_.begin()->first;
    }
  }
  return entry->second;
}

std::string ThreadSurvey::thread_name(std::uint32_t tid) const {
  if (tid == 0) return "the idle CPU";
  const auto known = names_.find(tid);
  return known == names_.end() ? fmt::format("thread {}", tid) : known->second.second;
}

void ThreadSurvey::consume(const model::EventBatch& events) {
  for (std::size_t row = 0; row < events.size(); ++row) {
    const model::EventView event = events[row];
    const auto stream = cpu_of_stream_.find(event.stream);
    const std::int32_t cpu = stream == cpu_of_stream_.end() ? -1 : stream->second;
    states_.consume(event, cpu);
    const bool is_call = knows_calls_ && points_.syscall.is(event);
    const bool is_hit = event.point < point_names_.size() && !point_names_[event.point].empty();
    if (is_call) on_call(event, selects(event.tid, cpu, event.ts_ns));
    if (is_hit) note_hit(event, selects(event.tid, cpu, event.ts_ns));
  }
}

void ThreadSurvey::finish(std::uint64_t end_ns) {
  is_ending_ = true;
  states_.finish(end_ns);
  for (auto& [tid, thread] : threads_) settle_all(tid, nullptr);
}

void ThreadSurvey::take(const ThreadSpan& span) {
  ThreadActivity& of = activity(span.tid);
  const std::uint64_t ns = span.end_ns - span.begin_ns;
  const std::uint64_t counted_ns =
      selection_.is_selective() ? selection_.time_of(span.tid, span.cpu, span.begin_ns, span.end_ns)
                                : ns;
  switch (span.state) {
    case State::kRunning:
      of.running_ns += counted_ns;
      return;
    case State::kUnknown:
      of.unknown_ns += counted_ns;
      return;
    case State::kBlocked:
      of.blocked_ns += counted_ns;
      if (!is_ending_) on_blocked(span);
      return;
    case State::kRunnable:
      break;
    case State::kGone:
      return;
  }
  of.runnable_ns += counted_ns;
  if (is_ending_) return;
  auto& waits = threads_[span.tid].waits;
  const bool was_woken = !waits.empty() && waits.back().end_ns == span.begin_ns;
  const bool is_selected = selects(span.tid, span.cpu, span.end_ns);
  if (span.was_running && is_selected) of.preempted_ns.add(ns);
  if (!was_woken) return;
  if (is_selected) of.woken_ns.add(ns);
  waits.back().delay_ns = ns;
  if (!knows_calls_) settle_all(span.tid, nullptr);
}

void ThreadSurvey::on_blocked(const ThreadSpan& span) {
  Wait wait = {.begin_ns = span.begin_ns,
               .end_ns = span.end_ns,
               .cpu = span.cpu,
               .by = span.by,
               .waker = span.waker,
               .delay_ns = std::nullopt,
               .handed = {}};
  if (activities_.contains(span.by)) {
    Thread& waker = threads_[span.by];
    if (span.waker == Waker::kThread) wait.handed = waker.input;
    if (span.waker == Waker::kSoftirq && waker.sent_to.size() < kMaxWaits)
      waker.sent_to.emplace_back(span.end_ns, span.tid);
  }
  Thread& thread = threads_[span.tid];
  thread.woken_ns = span.end_ns;
  thread.reacted.clear();
  if (thread.waits.size() >= kMaxWaits) settle_all(span.tid, nullptr);
  thread.waits.push_back(std::move(wait));
}

std::optional<Syscall> ThreadSurvey::read_call(const model::EventView& event) const {
  const auto value = [&](const std::optional<std::size_t>& field) {
    return field && *field < event.values.size() ? event.values[*field] : 0;
  };
  const auto found = activities_.find(event.tid);
  if (found == activities_.end()) return std::nullopt;
  const std::uint64_t ns = points_.syscall.value(event, 0);
  return Syscall{.number = static_cast<std::uint32_t>(value(number_field_)),
                 .begin_ns = ns == 0 ? open_ns_ : event.ts_ns - std::min(ns, event.ts_ns),
                 .end_ns = event.ts_ns,
                 .result = static_cast<std::int64_t>(value(result_field_)),
                 .arg0 = value(arg0_field_),
                 .op = value(op_field_),
                 .pid = found->second.pid};
}

void ThreadSurvey::on_call(const model::EventView& event, bool is_selected) {
  activity(event.tid);
  const auto call = read_call(event);
  if (!call) return;
  Thread& thread = threads_[event.tid];
  const bool has_waited = !thread.waits.empty();
  settle_all(event.tid, &*call);
  ThreadActivity& of = activity(event.tid);
  of.calls += is_selected ? 1 : 0;
  of.empty_calls += is_selected && !has_waited && calls_.found_nothing(*call) ? 1 : 0;
  note_traffic(event.tid, *call, is_selected);
  if (is_selected && calls_.sends(*call))
    for (const auto& [ts_ns, receiver] : thread.sent_to)
      if (ts_ns >= call->begin_ns) ++loopback_[{event.tid, receiver}];
  thread.sent_to.clear();
}

// Settles all waits: those outside of the call were in none, but for a page or a lock of the
// kernel.
void ThreadSurvey::settle_all(std::uint32_t tid, const Syscall* call) {
  std::vector<Wait>& waits = threads_[tid].waits;
  for (const Wait& wait : waits)
    settle(tid, wait, call != nullptr && wait.begin_ns >= call->begin_ns ? call : nullptr);
  waits.clear();
}

WakeCause ThreadSurvey::cause_of(const Wait& wait, const Syscall* call) const {
  const bool by_thread = wait.waker == Waker::kThread && wait.by != 0;
  if (call == nullptr) {
    if (by_thread) return WakeCause::kThread;
    return wait.waker == Waker::kSoftirq || wait.waker == Waker::kInterrupt ? WakeCause::kInterrupt
                                                                            : WakeCause::kUnknown;
  }
  const SyscallKind kind = calls_.kind(call->number);
  if (kind == SyscallKind::kSleep) return WakeCause::kTimer;
  if (by_thread) return WakeCause::kThread;
  if (calls_.timed_out(*call) || calls_.is_timer(*call)) return WakeCause::kTimer;
  if (wait.waker == Waker::kSoftirq) {
    const bool of_network = kind == SyscallKind::kPoll || kind == SyscallKind::kConnect ||
                            calls_.receives(*call) || calls_.sends(*call);
    return of_network ? WakeCause::kNetwork : WakeCause::kInterrupt;
  }
  if (wait.waker != Waker::kInterrupt) return WakeCause::kUnknown;
  return kind == SyscallKind::kPoll && calls_.has_timers(call->pid) ? WakeCause::kTimer
                                                                    : WakeCause::kInterrupt;
}

// A condition variable has two adjacent futexes, and uses them alternately.
WaitChannel ThreadSurvey::wait_channel_of(const Syscall* call) const {
  if (call == nullptr) return {};
  WaitChannel channel = {.number = call->number, .at = 0};
  if (calls_.kind(call->number) == SyscallKind::kFutex) channel.at = call->arg0 & ~std::uint64_t{7};
  if (calls_.has_descriptor(call->number)) channel.at = call->arg0;
  return channel;
}

void ThreadSurvey::note_futex(std::uint32_t tid, const Wait& wait, const Syscall& call,
                              WakeCause cause) {
  const FutexKey key = {call.pid, call.arg0 & ~std::uint64_t{7}};
  if (futexes_.size() >= kMaxFutexes && !futexes_.contains(key)) return;
  Futex& futex = futexes_[key];
  ++futex.waits;
  futex.as_lock += waits_as_lock(call.op) ? 1 : 0;
  futex.waiters.insert(tid);
  if (cause == WakeCause::kThread) futex.wakers.insert(wait.by);
}

void ThreadSurvey::settle(std::uint32_t tid, const Wait& wait, const Syscall* call) {
  const WakeCause cause = cause_of(wait, call);
  ThreadActivity& of = activity(tid);
  const bool is_selected = selects(tid, wait.cpu, wait.end_ns);
  of.wakes[static_cast<std::size_t>(cause)] += is_selected ? 1 : 0;
  // If the call began before the capture its address may not be known.
  if (call != nullptr && calls_.kind(call->number) == SyscallKind::kFutex && call->arg0 != 0)
    note_futex(tid, wait, *call, cause);
  if (cause == WakeCause::kTimer || cause == WakeCause::kInterrupt) {
    std::uint64_t& last_ns = threads_[tid].last_tick_ns;
    if (last_ns != 0 && is_selected) of.intervals_ns.add(wait.end_ns - last_ns);
    last_ns = wait.end_ns;
  }
  hand_over(tid, wait, call, cause);
  if (!is_selected) return;
  const WakeupEdgeKey key = {.cause = cause,
                             .by = cause == WakeCause::kThread ? wait.by : 0,
                             .tid = tid,
                             .channel = wait_channel_of(call)};
  if (edges_.size() >= kMaxEdges && !edges_.contains(key)) {
    ++left_out_;
    return;
  }
  WakeupEdge& edge = edges_[key];
  ++edge.count;
  edge.waited_ns += wait.end_ns - wait.begin_ns;
  if (wait.delay_ns) edge.delay_ns.add(*wait.delay_ns);
}

// Sets the input that a thread works on from here on: that of its waker, if the wakeup handed it
// over. Waits for a lock or a page, and sleeps in the middle of work, do not change it.
void ThreadSurvey::hand_over(std::uint32_t tid, const Wait& wait, const Syscall* call,
                             WakeCause cause) {
  Input& input = threads_[tid].input;
  if (call == nullptr || calls_.kind(call->number) == SyscallKind::kSleep) return;
  if (calls_.kind(call->number) == SyscallKind::kFutex) {
    const auto futex = futexes_.find({call->pid, call->arg0 & ~std::uint64_t{7}});
    if (futex != futexes_.end() && futex->second.is_lock()) return;
  }
  input = cause == WakeCause::kThread ? wait.handed : Input{};
  if (!input.is_known) return;
  input.is_known =
      input.tids.size() < kMaxHops && std::ranges::find(input.tids, tid) == input.tids.end();
  input.tids.push_back(tid);
}

void ThreadSurvey::note_hit(const model::EventView& event, bool is_selected) {
  const auto found = threads_.find(event.tid);
  if (found == threads_.end() || found->second.woken_ns == 0) return;
  Thread& thread = found->second;
  if (thread.reacted.size() >= kMaxReacted ||
      std::ranges::find(thread.reacted, event.point) != thread.reacted.end() ||
      event.ts_ns < thread.woken_ns)
    return;
  thread.reacted.push_back(event.point);
  if (!is_selected) return;
  const ReactionKey key = {.tid = event.tid, .point = event.point};
  if (reactions_.size() >= kMaxReactions && !reactions_.contains(key)) {
    ++left_out_;
    return;
  }
  reactions_[key].add(event.ts_ns - thread.woken_ns);
}

void ThreadSurvey::count_traffic(std::uint32_t tid, const Syscall& call) {
  const TrafficKey key = {.tid = tid, .number = call.number, .descriptor = call.arg0};
  if (traffic_.size() >= kMaxTraffic && !traffic_.contains(key)) {
    ++left_out_;
    return;
  }
  Traffic& traffic = traffic_[key];
  const bool moved = call.result > 0;
  ++(moved ? traffic.calls : traffic.empty);
  if (moved) traffic.amount += static_cast<std::uint64_t>(call.result);
}

void ThreadSurvey::note_traffic(std::uint32_t tid, const Syscall& call, bool is_selected) {
  const bool receives = calls_.receives(call);
  const bool sends = calls_.sends(call);
  if (!receives && !sends && !calls_.is_timer(call)) return;
  if (is_selected) count_traffic(tid, call);
  if (call.result <= 0) return;
  ThreadActivity& of = activity(tid);
  Input& input = threads_[tid].input;
  if (receives) {
    of.received += is_selected ? 1 : 0;
    input = {.is_known = true,
             .is_sent = false,
             .since_ns = call.end_ns,
             .descriptor = call.arg0,
             .tids = {tid}};
  } else if (sends) {
    of.sent += is_selected ? 1 : 0;
    const bool follows = input.is_known && !input.is_sent && call.begin_ns >= input.since_ns &&
                         call.begin_ns - input.since_ns <= kMaxWayNs;
    if (!follows) return;
    input.is_sent = true;
    if (!is_selected) return;
    const PathKey path = {.tids = input.tids, .in = input.descriptor, .out = call.arg0};
    if (paths_.size() >= kMaxPaths && !paths_.contains(path)) {
      ++left_out_;
      return;
    }
    paths_[path].add(call.begin_ns - input.since_ns);
  }
}

}  // namespace sojourn::threads
