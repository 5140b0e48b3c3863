#include "userspace/capture/rings/ring_engine.h"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <thread>
#include <utility>

#include "analysis/base/second.h"
#include "userspace/base/clock.h"
#include "userspace/capture/rings/ring_directory.h"
#include "userspace/capture/rings/ring_engine_state.h"
#include "userspace/capture/rings/ring_settle.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

namespace {

using std::chrono::microseconds;

constexpr std::uint64_t kMillisecond = 1'000'000;

// The close mark is converted to ticks this long ahead, when the conversion is exact.
constexpr std::uint64_t kCloseLead = 100 * kMillisecond;

// The longest period of polls, which grows while there are no events.
constexpr microseconds kMaxPeriod{10'000};

RingClock make_clock(const CounterPair& first, const CounterCorrector& corrector) {
  constexpr std::uint64_t kApart = 10 * kMillisecond;
  if (const std::uint64_t since = base::monotonic_ns() - first.ns; since < kApart)
    std::this_thread::sleep_for(std::chrono::nanoseconds(kApart - since));
  return {first, corrector.corrected(read_counter_pair())};
}

}  // namespace

RingEngine::State::State(const tracee::Process& of, tracee::Points now, const RingOptions& how)
    : points(std::move(now)),
      options(how),
      corrector(how.counters ? CounterCorrector(how.counters()) : CounterCorrector()),
      first_pair(how.first_clocks ? corrector.corrected(*how.first_clocks) : read_pair()),
      clock(make_clock(first_pair, corrector)) {
  owners.emplace_back(of);
  shared.clock = &clock;
  shared.corrector = &corrector;
  shared.is_recorded = [this](std::uint32_t pid) {
    return options.follow || owner(pid) != nullptr;
  };
  shared.ring_bytes = how.ring_bytes;
  shared.memory_ceiling = how.memory_ceiling;
  shared.gate = {.open = UINT64_MAX, .close = UINT64_MAX};
  shared.host_tid = [this](std::uint64_t thread) {
    Owner* const its = owner(pid_of(thread));
    const auto tid = static_cast<std::uint32_t>(thread);
    return its == nullptr ? tid : its->threads.host_tid(tid);
  };
  shared.is_alive = [this](std::uint64_t thread) {
    Owner* const its = owner(pid_of(thread));
    return (its == nullptr ? owners.front() : *its).threads.is_alive(thread);
  };
  shared.host_pid = [this](std::uint64_t thread) {
    Owner* const its = owner(pid_of(thread));
    return its == nullptr ? pid_t{0} : its->process->pid();
  };
  shared.thread_position_of = [this](std::uint64_t thread) -> std::optional<ThreadPosition> {
    Owner* const its = owner(pid_of(thread));
    if (its == nullptr) return std::nullopt;
    const auto tid = static_cast<std::uint32_t>(thread);
    return position_of_thread(its->process->pid(), static_cast<pid_t>(its->threads.host_tid(tid)));
  };
  shared.look_at_cpu = [this](std::uint64_t thread) -> std::optional<CpuLook> {
    Owner* const its = owner(pid_of(thread));
    if (its == nullptr) return std::nullopt;
    return capture::look_at_cpu(its->process->pid(), static_cast<pid_t>(shared.host_tid(thread)));
  };
  shared.first_look = [this](std::uint64_t thread) {
    const auto before = looks_before.find(shared.host_tid(thread));
    return before == looks_before.end() ? CpuLook() : before->second;
  };
}

// Notes the CPU of each thread before its points are armed, and so before its first hit.
void RingEngine::State::look_at_cpus(const tracee::Process& process) {
  if (!corrector.is_needed()) return;
  std::error_code gone;
  for (const auto& task : std::filesystem::directory_iterator(process.proc("task"), gone)) {
    const auto tid = tracee::parse_number(task.path().filename().string()).value_or(0);
    if (const auto look = capture::look_at_cpu(process.pid(), static_cast<pid_t>(tid)))
      looks_before[static_cast<std::uint32_t>(tid)] = *look;
  }
}

RingEngine::State::Owner* RingEngine::State::owner(std::uint32_t pid) {
  // Searches the newest first, as a pid may be reused.
  for (auto one = owners.rbegin(); one != owners.rend(); ++one)
    if (static_cast<std::uint32_t>(one->process->namespace_pid()) == pid) return &*one;
  return nullptr;
}

RingEngine::RingEngine(std::unique_ptr<State> state) : state_(std::move(state)) {}
RingEngine::~RingEngine() {
  disarm();
}

Result<std::unique_ptr<RingEngine>> RingEngine::create(const tracee::Process& process,
                                                       const tracee::Points& points,
                                                       const RingOptions& options) {
  if (options.ring_bytes != 0 &&
      (!std::has_single_bit(options.ring_bytes) || options.ring_bytes < SJ_RING_PAGE))
    return fail("a ring of {} bytes: the size is a power of two, {} at least", options.ring_bytes,
                SJ_RING_PAGE);
  if (std::ranges::none_of(points.ring_sites, &tracee::RingSite::is_wanted))
    return fail("process {} writes no rings: it was built without the probe library",
                process.title());
  auto state = std::make_unique<State>(process, points, options);
  if (!options.target_starts) {
    SJ_CHECK(state->scan());
    if (!state->is_complete())
      return fail(
          "process {} has no rings: it was started with SJ_RINGS=off, or could not have "
          "the memory",
          process.title());
  }
  return std::unique_ptr<RingEngine>(new RingEngine(std::move(state)));
}

Result<void> RingEngine::connect(CaptureOutput& output) {
  State& state = *state_;
  for (const model::Point& point : state.points.schema.points) SJ_CHECK(output.add_point(point));
  output.announce_points();
  state.output = &output;
  state.shared.new_stream = [&state, &output](std::uint64_t thread) {
    const auto* const owner = state.owner(State::pid_of(thread));
    const std::uint32_t pid = State::pid_of(thread);
    const tracee::Process& head = state.process();
    if (owner == nullptr && thread != 0 && state.options.meet) state.options.meet(pid);
    // Outside of a container a child's own pid is also its pid here, even if it was not seen yet.
    const bool is_translated = head.pid() != head.namespace_pid();
    const auto stranger = is_translated ? -1 : static_cast<std::int32_t>(pid);
    return output.new_stream(
        {.engine = model::Engine::kRing,
         .cpu = -1,
         .tid = thread == 0 ? -1 : static_cast<std::int32_t>(state.shared.host_tid(thread)),
         .pid = owner != nullptr ? owner->process->pid()
                : thread == 0    ? head.pid()
                                 : stranger});
  };
  state.shared.hand_over = [&output](model::EventColumns& columns) {
    output.push(model::EventBatch(std::move(columns)));
    columns = output.sink().empty_batch().release();
  };
  return {};
}

// ---- the session ----

Result<void> RingEngine::arm() {
  State& state = *state_;
  for (const State::Owner& owner : state.owners) state.look_at_cpus(*owner.process);
  state.armed = true;
  for (const auto& module : state.modules) {
    module->enter();
    module->arm();
  }
  const std::uint64_t now = base::monotonic_ns();
  if (state.options.target_starts) state.scan_often_until_ns = now + 5 * kNsPerSecond;
  state.next_scan_ns = now + (state.options.target_starts ? 0 : kNsPerSecond);
  return {};
}

void RingEngine::State::set_marks() {
  for (const auto& module : modules) module->set_marks(shared.gate.open, shared.gate.close);
}

// Returns the stamp from which on all events before the capture are kept; 0 if there are none.
std::uint64_t RingEngine::State::earliest_stamp() const {
  std::uint64_t earliest = 0;
  std::uint64_t whole_from = 0;
  for (const auto& module : modules) {
    const std::uint64_t claim = module->earliest_claim();
    if (claim != 0) earliest = earliest == 0 ? claim : std::min(earliest, claim);
    whole_from = std::max(whole_from, module->whole_from());
  }
  return earliest == 0 ? 0 : std::max(earliest, whole_from);
}

// Bounds the error of times before the first reading of the clocks: they are extrapolated, so the
// readings' errors grow with the distance.
void RingEngine::State::note_time_before(std::uint64_t monotonic_ns, const CounterPair& now) {
  if (monotonic_ns >= first_pair.ns) return;
  const auto before = static_cast<double>(first_pair.ns - monotonic_ns);
  const auto length = static_cast<double>(std::max<std::uint64_t>(now.ns - first_pair.ns, 1));
  const auto errors = static_cast<double>(first_pair.error_ns + now.error_ns);
  error_before_ns = static_cast<std::uint64_t>(errors * (1 + before / length));
}

void RingEngine::open_at(std::uint64_t monotonic_ns) {
  State& state = *state_;
  const std::uint64_t earliest = state.earliest_stamp();
  const bool is_from_earliest = earliest != 0 && state.clock.to_ns(earliest) == monotonic_ns;
  state.shared.gate.open = UINT64_MAX;
  for (const auto& module : state.modules) module->start_over();
  // No stamp was converted yet, and the line was fitted to ten milliseconds: with a new pair the
  // mark is exact, however long it took to come here.
  const CounterPair now = state.read_pair();
  state.clock = RingClock(state.first_pair, now);
  state.note_time_before(monotonic_ns, now);
  state.shared.gate.open = is_from_earliest ? earliest : state.clock.to_ticks(monotonic_ns);
  state.set_marks();
}

void RingEngine::close_at(std::uint64_t monotonic_ns) {
  state_->close_ns = monotonic_ns;
  state_->poll_processes(base::monotonic_ns());
}

// Does the periodic work.
void RingEngine::State::poll_processes(std::uint64_t now_ns) {
  if (now_ns >= clock.next_pair_ns()) clock.add(read_pair());
  if (close_ns != 0 && close_ns != UINT64_MAX && now_ns + kCloseLead >= close_ns) {
    shared.gate.close = clock.to_ticks(close_ns);
    set_marks();
    close_ns = 0;
  }
}

Result<void> RingEngine::settle() {
  State& state = *state_;
  if (!state.process().alive()) SJ_CHECK(state.scan_left());
  std::vector<const tracee::Process*> processes;
  processes.reserve(state.owners.size());
  for (const State::Owner& owner : state.owners) processes.push_back(owner.process);
  return settle_rings(processes, state.modules, [this]() -> Result<void> {
    SJ_CHECK(poll());
    return {};
  });
}

Result<bool> RingEngine::poll() {
  State& state = *state_;
  const std::uint64_t now = base::monotonic_ns();
  state.poll_processes(now);
  if (state.armed && now >= state.next_scan_ns) {
    const bool often = now < state.scan_often_until_ns && !state.is_complete();
    state.next_scan_ns = now + (often ? kMillisecond : kNsPerSecond);
    if (often) state.period = state.options.poll_period;
    if (!state.options.directory.empty())
      remove_other_arenas(state.options.directory, state.process().namespace_pid());
    if (auto scanned = state.scan(); scanned || often)
      state.blind_since_ns = 0;
    else if (state.blind_since_ns == 0)
      state.blind_since_ns = now;
    else if (now - state.blind_since_ns >= kNsPerSecond) {
      // The rings of a library that came later may fail without losing the others.
      SJ_CHECK(state.scan(State::Unfit::kLeaveOut));
      state.blind_since_ns = 0;
    }
    // A process cannot be looked into while it ends, executes a program or unloads a library: soon
    // it can be, or it is gone.
    if (state.blind_since_ns != 0) state.next_scan_ns = now + 10 * kMillisecond;
  }
  const bool has_room = state.output->sink().has_room();
  bool more = false;
  double fill = 0;
  for (const auto& module : state.modules) {
    if (module->drain(has_room)) more = true;
    fill = std::max(fill, module->fill());
  }
  if (now >= state.next_life_ns) {
    state.next_life_ns = now + 100 * kMillisecond;
    for (State::Owner& owner : state.owners) owner.threads.refresh();
    if (has_room)
      for (const auto& module : state.modules) module->free_abandoned();
  }
  constexpr double kWellFilled = 0.125;
  if (fill >= kWellFilled)
    state.period = std::max(state.period / 2, microseconds(100));
  else if (fill > 0)
    state.period =
        std::min(std::max(state.period, state.options.poll_period / 2) + microseconds(100),
                 state.options.poll_period);
  else
    state.period = std::min(state.period * 3 / 2, std::max(kMaxPeriod, state.options.poll_period));
  return more;
}

void RingEngine::mark() {
  for (const auto& module : state_->modules) module->mark();
}

bool RingEngine::is_past_mark() const {
  return std::ranges::all_of(state_->modules,
                             [](const auto& module) { return module->is_past_mark(); });
}

// The last flush, when everything was taken, also counts hits under way as lost.
void RingEngine::flush() {
  if (state_->has_left) {
    for (State::Owner& owner : state_->owners) owner.threads.refresh();
    for (const auto& module : state_->modules) module->close_books();
  }
  for (const auto& module : state_->modules) module->flush();
}

microseconds RingEngine::poll_period() const {
  return state_->period;
}

void RingEngine::disarm() {
  if (!std::exchange(state_->armed, false)) return;
  for (const auto& module : state_->modules) module->leave();
  state_->has_left = true;
}

bool RingEngine::is_armed() const {
  return state_->armed;
}

Result<void> RingEngine::switch_points(std::span<const model::PointId> points, bool on) {
  for (const State::Flag& one : state_->flags)
    if (std::ranges::find(points, one.point) != points.end())
      state_->modules[one.module]->switch_flags(std::span(&one.flag, 1), on);
  return {};
}

// ---- what became of it ----

Result<void> RingEngine::add_losses(model::Ledger& ledger) const {
  for (const auto& module : state_->modules) module->add_losses(ledger);
  return {};
}

void RingEngine::add_under_way(std::uint64_t until_ns, model::Ledger& ledger) {
  for (State::Owner& owner : state_->owners) owner.threads.refresh();
  const std::uint64_t until = state_->clock.to_ticks(until_ns);
  for (const auto& module : state_->modules) module->add_under_way(until, ledger);
}

Result<void> RingEngine::add_hits(std::vector<std::uint64_t>& hits) const {
  for (const auto& module : state_->modules) module->add_hits(hits);
  return {};
}

std::uint64_t RingEngine::events() const {
  std::uint64_t events = 0;
  for (const auto& module : state_->modules) events += module->events();
  return events;
}

std::size_t RingEngine::sites() const {
  return static_cast<std::size_t>(
      std::ranges::count(state_->points.ring_sites, true, &tracee::RingSite::is_wanted));
}

std::string RingEngine::mechanism() const {
  return "rings";
}

std::uint64_t RingEngine::stamp_error_ns() const {
  std::uint64_t by_counters = 0;
  for (const auto& module : state_->modules)
    by_counters = std::max(by_counters, module->counters_error_ns());
  return std::max(state_->clock.largest_error_ns(), state_->error_before_ns) + by_counters;
}

std::uint64_t RingEngine::events_of_unknown_cpu() const {
  std::uint64_t events = 0;
  for (const auto& module : state_->modules) events += module->events_of_unknown_cpu();
  return events;
}

std::uint64_t RingEngine::earliest_ns() const {
  const std::uint64_t stamp = state_->earliest_stamp();
  return stamp == 0 ? UINT64_MAX : state_->clock.to_ns(stamp);
}

std::vector<model::ShedSpan> RingEngine::silences() const {
  std::vector<model::ShedSpan> spans;
  for (const State::Flag& flag : state_->flags)
    for (const RingSilence& silence : state_->modules[flag.module]->silences())
      spans.push_back({.point = flag.point,
                       .from_ns = state_->clock.to_ns(silence.from),
                       .until_ns = state_->clock.to_ns(silence.until)});
  return spans;
}

void RingEngine::add_advice(RingAdvice& advice) const {
  for (const auto& module : state_->modules) module->add_advice(advice);
  std::ranges::copy(state_->left_out, std::back_inserter(advice.left_out));
}

const tracee::Points& RingEngine::points() const {
  return state_->points;
}

// ---- a family ----

Result<bool> RingEngine::is_shared_with(const tracee::Process& process) const {
  SJ_TRY(found, find_arenas(process));
  return std::ranges::any_of(found, [this](const FoundArena& arena) {
    return state_->known.contains({arena.device, arena.inode});
  });
}

bool RingEngine::forget(const tracee::Process& process) {
  if (state_->owners.front().process == &process) return false;
  std::erase_if(state_->owners, [&](const auto& owner) { return owner.process == &process; });
  return true;
}

// Rings that the process took before were drained as those of a foreign process.
void RingEngine::adopt(const tracee::Process& process) {
  state_->look_at_cpus(process);
  state_->owners.emplace_back(process);
  for (const auto& module : state_->modules) module->recognise();
  state_->next_scan_ns = 0;
}

}  // namespace sojourn::capture
