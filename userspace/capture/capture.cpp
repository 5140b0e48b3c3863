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
#include "userspace/capture/bpf_programs.h"
#include "userspace/capture/drain.h"
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
Result<void> write_preamble(trace::Writer& writer, const target::Points& points, std::size_t cpus) {
  SJ_CHECK(writer.write(target::host_info()));
  SJ_CHECK(writer.write(points.schema));
  for (std::uint32_t cpu = 0; cpu < cpus; ++cpu)
    SJ_CHECK(writer.write(model::Stream{.id = cpu,
                                        .engine = model::Engine::kBpf,
                                        .cpu = static_cast<std::int32_t>(cpu),
                                        .tid = -1}));
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
  Mechanism mechanism = Mechanism::kUprobeMulti;
  model::Capture about;
  nanoseconds attach_time{};
  std::uint64_t end_ns = UINT64_MAX;  // by the duration
  std::uint64_t tracer_cpu_at_open = 0;
  std::uint64_t target_cpu_at_open = 0;
  std::uint64_t target_cpu_last = 0;  // the newest reading: an exited target has none

  std::optional<Sink> sink;
  std::optional<BpfPrograms> programs;
  std::optional<Drain> drain;
  std::optional<Attachment> attachment;
};

Capture::Capture(std::unique_ptr<State> state) : state_(std::move(state)) {}
Capture::Capture(Capture&&) noexcept = default;
Capture& Capture::operator=(Capture&&) noexcept = default;
Capture::~Capture() = default;

Mechanism Capture::mechanism() const {
  return state_->mechanism;
}
nanoseconds Capture::attach_time() const {
  return state_->attach_time;
}

Result<Capture> Capture::start(const target::Process& process, const target::Points& points,
                               Options options) {
  auto state = std::make_unique<State>();
  state->process = &process;
  state->options = std::move(options);
  state->mechanism = state->options.mechanism ? *state->options.mechanism : best_mechanism();

  SJ_TRY(programs,
         BpfPrograms::load(points, process.pid(), state->mechanism, state->options.ring_bytes));
  state->programs = std::move(programs);

  SJ_TRY(writer, trace::Writer::create(state->options.output));
  SJ_CHECK(write_preamble(writer, points, state->programs->rings().size()));
  state->sink.emplace(std::move(writer));
  state->drain.emplace(state->programs->rings(), *state->sink);

  const std::uint64_t before = base::monotonic_ns();
  auto attachment = Attachment::attach(points, process.pid(), state->mechanism, *state->programs);
  if (!attachment) return std::unexpected(process.explain(std::move(attachment).error()));
  state->attachment = std::move(*attachment);
  state->attach_time = nanoseconds(base::monotonic_ns() - before);

  state->about.tracer = "sojourn " SOJOURN_VERSION;
  state->about.engine = model::Engine::kBpf;
  state->about.attach = name(state->mechanism);
  state->about.sites = static_cast<std::uint32_t>(points.sites.size());
  state->about.open_ns = base::monotonic_ns() + kGateLead;
  if (state->options.duration) {
    state->end_ns =
        state->about.open_ns + static_cast<std::uint64_t>(state->options.duration->count());
    state->programs->close_gate_at(state->end_ns);
  }
  state->programs->open_gate_at(state->about.open_ns);
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
    const bool more = state.drain->poll();
    const std::uint64_t now = base::monotonic_ns();
    if (now >= next_second) {
      next_second += kSecond;
      state.target_cpu_last = state.process->cpu_time_ns().value_or(state.target_cpu_last);
      // Now and then all that is known goes to disk, so that a capture that is killed loses little.
      state.drain->flush();
      SJ_TRY(losses, state.programs->losses());
      state.sink->push(base::read_clock_pair());
      state.sink->push(losses);
      report({.elapsed = nanoseconds(now - state.about.open_ns),
              .events = state.drain->events(),
              .lost = total(losses),
              .bytes = state.sink->bytes()});
    }
    const auto until_end = std::chrono::ceil<std::chrono::milliseconds>(
        nanoseconds(state.end_ns > now ? std::min(state.end_ns - now, kSecond) : 0));
    const auto timeout =
        more ? std::chrono::milliseconds(0) : std::min(state.options.poll_period, until_end);
    if (poll(watched.data(), watched.size(), static_cast<int>(timeout.count())) < 0 &&
        errno != EINTR)
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
    const bool left = state.drain->poll();
    more = left || !had_room;
    if (!had_room) std::this_thread::sleep_for(state.options.poll_period);
  }
  state.drain->flush();
  return {};
}

Result<Outcome> Capture::finish() {
  State& state = *state_;
  // A gate that closes by itself, at the end of the duration, is left to that.
  state.about.close_ns = std::min(state.end_ns, base::monotonic_ns() + kGateLead);
  state.programs->close_gate_at(state.about.close_ns);
  sleep_until(state.about.close_ns);
  // An exited target's times are gone, and its pid may be another's: the last reading counts then.
  if (state.process->alive())
    state.target_cpu_last = state.process->cpu_time_ns().value_or(state.target_cpu_last);
  state.about.target_cpu_ns = state.target_cpu_last - state.target_cpu_at_open;

  // A hit inside the gate may still be on its way to its ring.
  SJ_CHECK(state.programs->wait_for_running());
  if (state.mechanism == Mechanism::kUprobeMulti) detach();
  SJ_CHECK(drain_rest());

  SJ_TRY(losses, state.programs->losses());
  state.about.stream_hits = state.programs->hits();
  state.about.tracer_cpu_ns = own_cpu_time_ns() - state.tracer_cpu_at_open;
  state.sink->push(base::read_clock_pair());
  state.sink->push(losses);
  state.sink->push(state.about);
  SJ_CHECK(state.sink->finish());
  return Outcome{.capture = state.about,
                 .events = state.drain->events(),
                 .lost = total(losses),
                 .bytes = state.sink->bytes()};
}

std::size_t Capture::probes_left() const {
  return state_->attachment ? state_->about.sites : 0;
}

void Capture::detach() {
  state_->attachment.reset();
}

void Capture::abandon() {
  state_->sink->abandon();
}

}  // namespace sojourn::capture
