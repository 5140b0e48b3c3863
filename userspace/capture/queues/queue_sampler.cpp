#include "userspace/capture/queues/queue_sampler.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <latch>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "analysis/base/second.h"
#include "userspace/base/clock.h"
#include "userspace/base/fail_errno.h"
#include "userspace/capture/queues/queue_pass.h"
#include "userspace/capture/queues/queue_watch.h"
#include "userspace/capture/rights/rights.h"
#include "userspace/capture/rings/mapped_arena.h"

namespace sojourn::capture {

namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;

// The period of scans, and so the error of the times at which queues appear and end.
constexpr std::uint64_t kScanPeriod = 5 * kMillisecond;

// The last look is this long before the close, as a wakeup may be late.
constexpr std::uint64_t kCloseLead = 100'000;

constexpr std::size_t kBatchRows = 4096;

// An absolute timer that can be cut short.
class Alarm {
 public:
  void ring() {
    word_.fetch_add(1, std::memory_order_release);
    syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
  }
  // The value to pass to sleep_until(), read before checking the reasons for a wakeup.
  std::uint32_t wakeups() const { return word_.load(std::memory_order_acquire); }
  void sleep_until(std::uint64_t monotonic_ns, std::uint32_t wakeups) {
    const timespec when{.tv_sec = static_cast<time_t>(monotonic_ns / kNsPerSecond),
                        .tv_nsec = static_cast<long>(monotonic_ns % kNsPerSecond)};
    syscall(SYS_futex, &word_, FUTEX_WAIT_BITSET_PRIVATE, wakeups,
            monotonic_ns == UINT64_MAX ? nullptr : &when, nullptr, FUTEX_BITSET_MATCH_ANY);
  }

 private:
  std::atomic<std::uint32_t> word_ = 0;
};

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

Result<void> check_cpu(int cpu) {
  if (cpu < 0) return {};
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return fail_errno("ask for the CPUs");
  if (cpu >= CPU_SETSIZE || !CPU_ISSET(static_cast<unsigned>(cpu), &allowed))
    return fail("sample queues on CPU {}: not a CPU that this process may run on", cpu);
  return {};
}

}  // namespace

struct QueueSampler::State {
  explicit State(const QueueSamplerOptions& how)
      : options(how), pass(how.mode == model::SamplingMode::kAdaptive, close_ns) {
    totals.mode = how.mode;
    totals.period_ns =
        how.mode == model::SamplingMode::kBusy ? 0 : static_cast<std::uint64_t>(how.period.count());
    totals.cpu = how.cpu;
  }

  // Used by the capture's thread.
  struct Part {
    const tracee::Process* process;
    std::set<std::pair<std::uint64_t, std::uint64_t>> known;  // arenas, by device and inode
  };
  std::vector<Part> parts;  // one a process
  QueueSamplerOptions options;
  Sink* sink = nullptr;
  std::uint32_t stream = 0;
  std::uint64_t next_find_ns = 0;
  std::uint64_t often_until_ns = 0;
  std::thread thread;

  // Used by both threads.
  Alarm alarm;
  std::atomic<std::uint64_t> open_ns = UINT64_MAX;
  std::atomic<std::uint64_t> close_ns = UINT64_MAX;
  std::latch is_prepared{1};
  std::atomic<bool> is_stopped = false;
  std::atomic<std::uint64_t> recorded = 0;
  std::mutex mutex;
  struct Found {
    std::unique_ptr<Arena> arena;
    std::size_t part = 0;
    std::int32_t pid = 0;       // as the process counts
    std::int32_t stranger = 0;  // see QueueWatch
    bool joint = true;
  };
  std::vector<Found> found;  // arenas that the sampling thread has not taken over
  std::atomic<bool> has_found = false;

  // Used by the sampling thread, while it runs.
  std::vector<std::unique_ptr<Arena>> arenas;
  QueuePass pass;
  std::map<std::size_t, QueueWatch> watches;  // by part
  model::Sampling totals;

  Result<void> find();
  Result<void> find(std::size_t part);
  bool looks_often(std::uint64_t now_ns) const;
  void take_over();
  void run();
  void prepare_thread() const;
  bool wait_for_open();
  void scan(std::uint64_t now_ns);
  void look(std::uint32_t& ticks);
  void hand_over();
  void tell_totals();
  void finish();
};

// ---- the capture's thread ----

// Finds arenas. A process that is ending, or in the middle of an exec, cannot be looked into.
Result<void> QueueSampler::State::find() {
  for (std::size_t part = 0; part < parts.size(); ++part) {
    if (!parts[part].process->alive()) continue;
    if (auto done = find(part); !done && parts[part].process->alive() && !parts[part].known.empty())
      return done;
  }
  return {};
}

Result<void> QueueSampler::State::find(std::size_t part) {
  const tracee::Process& process = *parts[part].process;
  SJ_TRY(all, find_arenas(process));
  for (const FoundArena& one : all) {
    const std::pair key(one.device, one.inode);
    if (parts[part].known.contains(key)) continue;
    SJ_TRY(arena, open_arena(process, one));
    // A forked child has its own table in its parent's arena; both have the joint table.
    const bool joint =
        std::ranges::none_of(parts, [&](const Part& other) { return other.known.contains(key); });
    parts[part].known.insert(key);
    auto owned = std::make_unique<Arena>(std::move(arena));
    const std::scoped_lock lock(mutex);
    found.push_back({.arena = std::move(owned),
                     .part = part,
                     .pid = process.namespace_pid(),
                     .stranger = part == 0 ? 0 : process.pid(),
                     .joint = joint});
    has_found = true;
  }
  return {};
}

// A program that was only just started has its arena within milliseconds, if it has any.
bool QueueSampler::State::looks_often(std::uint64_t now_ns) const {
  return now_ns < often_until_ns &&
         std::ranges::all_of(parts, [](const Part& part) { return part.known.empty(); });
}

QueueSampler::QueueSampler(std::unique_ptr<State> state) : state_(std::move(state)) {}
QueueSampler::~QueueSampler() {
  disarm();
}

Result<std::unique_ptr<QueueSampler>> QueueSampler::create(const tracee::Process& process,
                                                           const QueueSamplerOptions& options) {
  SJ_CHECK(check_cpu(options.cpu));
  auto state = std::make_unique<State>(options);
  state->parts.push_back({.process = &process, .known = {}});
  SJ_CHECK(state->find(0));
  return std::unique_ptr<QueueSampler>(new QueueSampler(std::move(state)));
}

Result<bool> QueueSampler::add_process(const tracee::Process& process) {
  state_->parts.push_back({.process = &process, .known = {}});
  state_->often_until_ns = base::monotonic_ns() + kNsPerSecond;
  SJ_CHECK(state_->find(state_->parts.size() - 1));
  return true;
}

Result<void> QueueSampler::connect(CaptureOutput& output) {
  State& state = *state_;
  SJ_TRY(point, output.add_point(model::queue_sample_point()));
  output.announce_points();
  state.sink = &output.sink();
  state.stream = output.new_stream({.id = 0, .engine = model::Engine::kSampler});
  state.pass.record_as(state.stream, point);
  state.sink->push(state.totals);
  return {};
}

Result<void> QueueSampler::arm() {
  state_->thread = std::thread([state = state_.get()] { state->run(); });
  state_->is_prepared.wait();
  return {};
}

void QueueSampler::open_at(std::uint64_t monotonic_ns) {
  state_->often_until_ns = base::monotonic_ns() + kNsPerSecond;
  state_->open_ns = monotonic_ns;
  state_->alarm.ring();
}

void QueueSampler::close_at(std::uint64_t monotonic_ns) {
  state_->close_ns = monotonic_ns;
  state_->alarm.ring();
}

// The thread ends by itself at the close.
Result<void> QueueSampler::settle() {
  if (state_->thread.joinable()) state_->thread.join();
  return {};
}

Result<bool> QueueSampler::poll() {
  State& state = *state_;
  const std::uint64_t now_ns = base::monotonic_ns();
  if (now_ns < state.next_find_ns || !is_armed()) return false;
  state.next_find_ns = now_ns + (state.looks_often(now_ns) ? kMillisecond : kNsPerSecond);
  SJ_CHECK(state.find());
  return false;
}

std::chrono::microseconds QueueSampler::poll_period() const {
  return state_->looks_often(base::monotonic_ns()) ? std::chrono::milliseconds(1)
                                                   : std::chrono::milliseconds(100);
}

void QueueSampler::disarm() {
  State& state = *state_;
  if (!state.thread.joinable()) return;
  state.is_stopped = true;
  state.alarm.ring();
  state.thread.join();
}

bool QueueSampler::is_armed() const {
  return state_->thread.joinable();
}

Result<void> QueueSampler::add_hits(std::vector<std::uint64_t>& hits) const {
  if (hits.size() <= state_->stream) hits.resize(state_->stream + 1);
  hits[state_->stream] += events();
  return {};
}

std::uint64_t QueueSampler::events() const {
  return state_->recorded;
}

// ---- the sampling thread ----

void QueueSampler::State::prepare_thread() const {
  // The thread only reads mapped memory, so it gives up all rights. If that fails it samples
  // anyway.
  std::ignore = give_up_rights();
  pthread_setname_np(pthread_self(), "sj-queues");  // the thread's name in `explain`
  prctl(PR_SET_TIMERSLACK, 1UL);                    // ns; 50,000 otherwise
  if (options.cpu < 0) return;
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(static_cast<unsigned>(options.cpu), &only);
  sched_setaffinity(0, sizeof(only), &only);
}

void QueueSampler::State::take_over() {
  if (!has_found.exchange(false)) return;
  const std::scoped_lock lock(mutex);
  for (Found& one : found) {
    const auto watch = watches.try_emplace(one.part, one.pid, one.stranger, pass).first;
    watch->second.add_arena(one.arena->bytes(), one.joint);
    arenas.push_back(std::move(one.arena));
  }
  found.clear();
}

bool QueueSampler::State::wait_for_open() {
  for (;;) {
    const std::uint32_t wakeups = alarm.wakeups();
    if (is_stopped) return false;
    if (base::monotonic_ns() >= open_ns) return true;
    alarm.sleep_until(open_ns, wakeups);
  }
}

void QueueSampler::State::run() {
  prepare_thread();
  is_prepared.count_down();
  if (!wait_for_open()) return;
  const bool is_busy = options.mode == model::SamplingMode::kBusy;
  const auto period_ns = static_cast<std::uint64_t>(options.period.count());
  std::uint64_t next_ns = base::monotonic_ns();
  std::uint64_t next_scan_ns = 0;
  std::uint64_t next_second_ns = next_ns + kNsPerSecond;
  std::uint32_t ticks = 1;  // from the last look to this one
  for (;;) {
    const std::uint32_t wakeups = alarm.wakeups();
    const std::uint64_t now_ns = base::monotonic_ns();
    if (is_stopped || now_ns + kCloseLead >= close_ns) break;
    if (!is_busy && now_ns < next_ns) {  // woken by the alarm
      alarm.sleep_until(std::min(next_ns, close_ns - kCloseLead), wakeups);
      continue;
    }
    if (now_ns >= next_scan_ns || pass.found_reused_slot()) {
      next_scan_ns = now_ns + kScanPeriod;
      scan(now_ns);
    }
    look(ticks);
    if (now_ns >= next_second_ns) {
      next_second_ns = now_ns + kNsPerSecond;
      pass.look_at_all();  // so that a trace that is cut off has lost a second at most
      hand_over();
      tell_totals();
    }
    if (is_busy) {
      relax();
      continue;
    }
    next_ns += ticks * period_ns;
    const std::uint64_t after_ns = base::monotonic_ns();
    if (after_ns < next_ns) {
      alarm.sleep_until(std::min(next_ns, close_ns - kCloseLead), wakeups);
    } else {
      const std::uint64_t late = (after_ns - next_ns) / period_ns + 1;
      totals.missed += late;
      next_ns += late * period_ns;
      ticks = static_cast<std::uint32_t>(std::min<std::uint64_t>(ticks + late, 1u << 20));
      alarm.sleep_until(std::min(next_ns, close_ns - kCloseLead), wakeups);
    }
  }
  finish();
}

void QueueSampler::State::look(std::uint32_t& ticks) {
  if (!sink->has_room()) {
    ++totals.held_back;
    ticks = 1;
    return;
  }
  const std::uint64_t before_ns = base::monotonic_ns();
  ticks = pass.look(ticks);
  const std::uint64_t span_ns = base::monotonic_ns() - before_ns;
  ++totals.passes;
  totals.pass_ns += span_ns;
  totals.longest_ns = std::max(totals.longest_ns, span_ns);
  if (pass.rows() >= kBatchRows) hand_over();
}

void QueueSampler::State::scan(std::uint64_t now_ns) {
  take_over();
  for (auto& [part, watch] : watches)
    if (auto changes = watch.scan(now_ns); !changes.empty()) sink->push(std::move(changes));
}

void QueueSampler::State::hand_over() {
  recorded = pass.recorded();
  if (pass.rows() == 0) return;
  sink->push(model::EventBatch(pass.take_rows(sink->empty_batch().release())));
}

void QueueSampler::State::tell_totals() {
  totals.looks = pass.looks();
  totals.refused = 0;
  for (const auto& [part, watch] : watches) totals.refused += watch.refused();
  totals.cpu_ns = base::read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
  totals.queues = pass.looks_by_queue();
  sink->push(totals);
}

void QueueSampler::State::finish() {
  scan(base::monotonic_ns());
  pass.look_at_all();
  hand_over();
  tell_totals();
}

}  // namespace sojourn::capture
