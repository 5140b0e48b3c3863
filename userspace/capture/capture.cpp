#include "userspace/capture/capture.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "userspace/base/clock.h"
#include "userspace/capture/sink.h"
#include "userspace/target/host.h"

namespace sojourn::capture {

namespace {

using std::chrono::nanoseconds;

// Far enough ahead that every CPU sees a gate's new time before that time comes.
constexpr std::uint64_t kGateLead = 1'000'000;

constexpr std::uint64_t kSecond = 1'000'000'000;

std::uint64_t own_cpu_time_ns() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ns = [](const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * kSecond +
           static_cast<std::uint64_t>(time.tv_usec) * 1000;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

void sleep_until(std::uint64_t monotonic) {
  timespec when{.tv_sec = static_cast<time_t>(monotonic / kSecond),
                .tv_nsec = static_cast<long>(monotonic % kSecond)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr) == EINTR) {
  }
}

// Which signal ended the capture.
std::string read_signal(int signals) {
  signalfd_siginfo info{};
  if (read(signals, &info, sizeof(info)) != sizeof(info) || info.ssi_signo == SIGINT)
    return "interrupt";
  const char* short_name = sigabbrev_np(static_cast<int>(info.ssi_signo));
  return fmt::format("SIG{}", short_name != nullptr ? short_name : "?");
}

std::uint64_t total(const model::Ledger& ledger) {
  std::uint64_t count = 0;
  for (const model::LedgerEntry& entry : ledger) count += entry.count;
  return count;
}

// What a reader needs before the first event.
Result<void> write_preamble(trace::Writer& writer, const target::Points& points) {
  SJ_CHECK(writer.write(target::host_info()));
  SJ_CHECK(writer.write(points.schema));
  return writer.write(base::read_clock_pair());
}

}  // namespace

// Members in the order in which they are acquired: the probes go first when this is destroyed.
struct Capture::State {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    // A capture that did not come to its open mark must not leave an empty trace.
    if (sink && about.open_ns == 0) sink->abandon();
  }

  const target::Process* process = nullptr;
  Options options;
  model::Capture about;
  std::string why_not_rings;
  nanoseconds attach_time{};
  std::uint64_t end_ns = UINT64_MAX;  // by the duration
  std::uint64_t tracer_cpu_at_open = 0;
  std::uint64_t target_cpu_at_open = 0;
  std::uint64_t target_cpu_last = 0;  // the newest reading: an exited target has none

  std::optional<Sink> sink;
  std::unique_ptr<Engine> engine;
  BpfEngine* bpf = nullptr;  // whichever of the two it is
  RingEngine* rings = nullptr;

  Result<void> choose_engine(const target::Points& points);
  Result<void> create_bpf(const target::Points& points);
  Result<model::Ledger> losses() const;
};

Result<void> Capture::State::create_bpf(const target::Points& points) {
  if (points.sites.empty())
    return fail("process {} has no points for eBPF: it was built with SJ_NO_USDT",
                process->title());
  SJ_TRY(made, BpfEngine::create(*process, points, options.bpf));
  bpf = made.get();
  engine = std::move(made);
  return {};
}

Result<void> Capture::State::choose_engine(const target::Points& points) {
  if (options.engine == model::Engine::kBpf) return create_bpf(points);
  if (!options.engine && options.rings.target_starts) {
    // The rings of a command that ends within milliseconds end with it, before anybody found them.
    if (create_bpf(points)) return {};
  }
  auto made = RingEngine::create(*process, points, options.rings);
  if (made) {
    rings = made->get();
    engine = std::move(*made);
    return {};
  }
  if (options.engine == model::Engine::kRing)
    return std::unexpected(process->explain(std::move(made).error()));
  why_not_rings = made.error().text();
  return create_bpf(points);
}

Result<model::Ledger> Capture::State::losses() const {
  model::Ledger ledger;
  SJ_CHECK(engine->add_losses(ledger));
  return ledger;
}

Capture::Capture(std::unique_ptr<State> state) : state_(std::move(state)) {}
Capture::Capture(Capture&&) noexcept = default;
Capture& Capture::operator=(Capture&&) noexcept = default;
Capture::~Capture() = default;

model::Engine Capture::engine() const {
  return state_->about.engine;
}
const std::string& Capture::why_not_rings() const {
  return state_->why_not_rings;
}
std::optional<Mechanism> Capture::mechanism() const {
  return state_->bpf != nullptr ? std::optional(state_->bpf->chosen()) : std::nullopt;
}
std::size_t Capture::sites() const {
  return state_->engine->sites();
}
nanoseconds Capture::attach_time() const {
  return state_->attach_time;
}

Result<Capture> Capture::start(const target::Process& process, const target::Points& points,
                               Options options) {
  auto state = std::make_unique<State>();
  state->process = &process;
  state->options = std::move(options);
  SJ_CHECK(state->choose_engine(points));
  Engine& engine = *state->engine;

  SJ_TRY(writer, trace::Writer::create(state->options.output));
  SJ_CHECK(write_preamble(writer, points));
  state->sink.emplace(std::move(writer));
  if (state->bpf != nullptr) state->bpf->connect(*state->sink);
  if (state->rings != nullptr) state->rings->connect(*state->sink, 0);

  const std::uint64_t before = base::monotonic_ns();
  SJ_CHECK(engine.arm());
  state->attach_time = nanoseconds(base::monotonic_ns() - before);

  state->about.tracer = "sojourn " SOJOURN_VERSION;
  state->about.engine = state->rings != nullptr ? model::Engine::kRing : model::Engine::kBpf;
  state->about.attach = engine.mechanism();
  state->about.sites = static_cast<std::uint32_t>(engine.sites());
  state->about.open_ns = std::min(engine.earliest_ns(), base::monotonic_ns() + kGateLead);
  if (state->options.duration) {
    state->end_ns = std::max(base::monotonic_ns(), state->about.open_ns) +
                    static_cast<std::uint64_t>(state->options.duration->count());
    engine.close_at(state->end_ns);
  }
  engine.open_at(state->about.open_ns);
  sleep_until(state->about.open_ns);
  state->tracer_cpu_at_open = own_cpu_time_ns();
  state->target_cpu_at_open = process.cpu_time_ns().value_or(0);
  state->target_cpu_last = state->target_cpu_at_open;
  state->sink->push(state->about);
  return Capture(std::move(state));
}

void Capture::describe(model::Target target) {
  state_->sink->push(std::move(target));
}

Result<void> Capture::run(int interrupts, const std::function<void(const Progress&)>& report) {
  State& state = *state_;
  std::uint64_t next_second = state.about.open_ns + kSecond;
  std::array<pollfd, 2> watched = {
      {{.fd = interrupts, .events = POLLIN, .revents = 0},
       {.fd = state.process->pidfd(), .events = POLLIN, .revents = 0}}};

  while (state.about.ended_by.empty()) {
    SJ_TRY(more, state.engine->poll());
    const std::uint64_t now = base::monotonic_ns();
    if (now >= next_second) {
      next_second += kSecond;
      state.target_cpu_last = state.process->cpu_time_ns().value_or(state.target_cpu_last);
      // Now and then all that is known goes to disk, so that a capture that is killed loses little.
      state.engine->flush();
      SJ_TRY(losses, state.losses());
      state.sink->push(base::read_clock_pair());
      state.sink->push(losses);
      report({.elapsed = nanoseconds(now - state.about.open_ns),
              .events = state.engine->events(),
              .lost = total(losses),
              .bytes = state.sink->bytes()});
    }
    const nanoseconds until_end(state.end_ns > now ? std::min(state.end_ns - now, kSecond) : 0);
    const nanoseconds timeout =
        more ? nanoseconds(0) : std::min<nanoseconds>(state.engine->poll_period(), until_end);
    const timespec wait{.tv_sec = static_cast<time_t>(timeout.count() / 1'000'000'000),
                        .tv_nsec = static_cast<long>(timeout.count() % 1'000'000'000)};
    if (ppoll(watched.data(), watched.size(), &wait, nullptr) < 0 && errno != EINTR)
      return fail_errno("wait for the target");
    if (watched[1].revents != 0) state.about.ended_by = "target exit";
    if (watched[0].revents != 0) state.about.ended_by = read_signal(interrupts);
    if (now >= state.end_ns) state.about.ended_by = "duration";
    if (state.sink->failed()) state.about.ended_by = "write error";
  }
  return {};
}

// Takes what is still in the rings, whatever time the disk needs.
Result<void> Capture::drain_rest() {
  State& state = *state_;
  for (bool more = true; more && !state.sink->failed();) {
    // Asked before: without room the drain took nothing, however much room there is by now.
    const bool had_room = state.sink->has_room();
    SJ_TRY(left, state.engine->poll());
    more = left || !had_room;
    if (!had_room) std::this_thread::sleep_for(state.engine->poll_period());
  }
  state.engine->flush();
  return {};
}

Result<Outcome> Capture::finish() {
  State& state = *state_;
  // A gate that closes by itself, at the end of the duration, is left to that.
  state.about.close_ns = std::min(state.end_ns, base::monotonic_ns() + kGateLead);
  if (state.about.close_ns != state.end_ns) state.engine->close_at(state.about.close_ns);
  sleep_until(state.about.close_ns);
  // An exited target's times are gone, and its pid may be another's: the last reading counts then.
  if (state.process->alive())
    state.target_cpu_last = state.process->cpu_time_ns().value_or(state.target_cpu_last);
  state.about.target_cpu_ns = state.target_cpu_last - state.target_cpu_at_open;

  // A hit inside the gate may still be on its way to its ring.
  SJ_CHECK(state.engine->settle());
  state.engine->disarm();
  SJ_CHECK(drain_rest());

  SJ_TRY(losses, state.losses());
  SJ_CHECK(state.engine->add_hits(state.about.stream_hits));
  state.about.stamp_error_ns = state.engine->stamp_error_ns();
  state.about.tracer_cpu_ns = own_cpu_time_ns() - state.tracer_cpu_at_open;
  state.sink->push(base::read_clock_pair());
  state.sink->push(losses);
  state.sink->push(state.about);
  SJ_CHECK(state.sink->finish());
  return Outcome{
      .capture = state.about,
      .events = state.engine->events(),
      .lost = total(losses),
      .bytes = state.sink->bytes(),
      .rings = state.rings != nullptr ? std::optional(state.rings->advice()) : std::nullopt};
}

std::size_t Capture::probes_left() const {
  return state_->bpf != nullptr && state_->bpf->is_armed() ? state_->about.sites : 0;
}

void Capture::detach() {
  state_->engine.reset();
}

void Capture::abandon() {
  state_->sink->abandon();
}

}  // namespace sojourn::capture
