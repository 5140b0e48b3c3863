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
#include "userspace/capture/calibrate.h"
#include "userspace/capture/capture_state.h"
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

std::uint64_t own_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

void sleep_until(std::uint64_t monotonic) {
  timespec when{.tv_sec = static_cast<time_t>(monotonic / kSecond),
                .tv_nsec = static_cast<long>(monotonic % kSecond)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr) == EINTR) {
  }
}

int read_signal(int signals) {
  signalfd_siginfo info{};
  return read(signals, &info, sizeof(info)) == sizeof(info) ? static_cast<int>(info.ssi_signo)
                                                            : SIGINT;
}

std::uint64_t total(const model::Ledger& ledger) {
  std::uint64_t count = 0;
  for (const model::LedgerEntry& entry : ledger)
    if (entry.cause != model::LossCause::kFiltered) count += entry.count;
  return count;
}

std::uint64_t filtered(const model::Ledger& ledger) {
  std::uint64_t count = 0;
  for (const model::LedgerEntry& entry : ledger)
    if (entry.cause == model::LossCause::kFiltered) count += entry.count;
  return count;
}

// What a reader needs before the first event.
Result<void> write_preamble(trace::Writer& writer, const target::Points& points) {
  SJ_CHECK(writer.write(target::host_info()));
  SJ_CHECK(writer.write(points.schema));
  return writer.write(base::read_clock_pair());
}

// A flight recorder has no file before its first dump: that it may write one shows now.
Result<void> try_to_write(const std::string& path) {
  SJ_TRY(writer, trace::Writer::create(path));
  writer.abandon();
  return {};
}

}  // namespace

Result<void> Capture::State::make_sources(const target::Points& points) {
  const bool has_points = !points.sites.empty() || !points.ring_sites.empty();
  SJ_TRY(chosen, has_points || !options.may_lack_points
                     ? choose_engines(*process, points, options.engines)
                     : Result<Engines>(Engines{}));
  coverage.ring_points = chosen.ring_points;
  coverage.bpf_points = chosen.bpf_points;
  coverage.uncovered_points = chosen.uncovered_points;
  coverage.why_not_rings = std::move(chosen.why_not_rings);
  coverage.why_not_bpf = std::move(chosen.why_not_bpf);
  rings = chosen.rings.get();
  bpf = chosen.bpf.get();
  if (rings != nullptr) {
    engines.push_back(rings);
    sources.push_back(std::move(chosen.rings));
  }
  if (bpf != nullptr) {
    coverage.mechanism = bpf->chosen();
    engines.push_back(bpf);
    sources.push_back(std::move(chosen.bpf));
  }
  for (const auto& make : options.others) {
    SJ_TRY(other, make(*process));
    sources.push_back(std::move(other));
  }
  return {};
}

// Without its costs a capture is still a capture.
void Capture::State::measure_costs(const target::Points& points) {
  about.hit_cost_ps.assign(points.schema.points.size(), 0);
  if (rings != nullptr) {
    const auto costs = ring_point_costs_ps(points.schema, calibrate_ring());
    for (const target::RingSite& site : points.ring_sites)
      if (site.is_wanted) about.hit_cost_ps[site.point] = costs[site.point];
  }
  if (bpf == nullptr) return;
  std::size_t max_args = 0;
  for (const target::Site& site : bpf->points().sites)
    max_args = std::max(max_args, site.args.size());
  const auto costs = calibrate_bpf(bpf->chosen(), static_cast<std::uint32_t>(max_args));
  if (!costs) {
    coverage.why_no_costs = costs.error().text();
    return;
  }
  const auto by_point = bpf_point_costs_ps(bpf->points(), costs->hit);
  for (std::size_t point = 0; point < by_point.size(); ++point)
    if (by_point[point] != 0) about.hit_cost_ps[point] = by_point[point];
  about.stamp_delay_ns = costs->stamp_delay_ns;
  bpf->correct_stamps(costs->stamp_delay_ns, costs->stamp_spread_ns);
}

Result<void> Capture::State::open_sink(const target::Points& points) {
  if (options.flight) {
    SJ_CHECK(try_to_write(options.output));
    watch.emplace(options.triggers, points.schema);
    sink.emplace(std::make_unique<FlightStore>(*options.flight, target::host_info()),
                 [this](const Item& item) { watch->look(item); });
    sink->push(points.schema);
    sink->push(base::read_clock_pair());
    dumps.emplace(options.output, options.aftermath);
  } else {
    SJ_TRY(writer, trace::Writer::create(options.output));
    SJ_CHECK(write_preamble(writer, points));
    sink.emplace(std::make_unique<FileStore>(std::move(writer)));
  }
  outlet.emplace(*sink, points.schema);
  if (options.where) {
    SJ_TRY(sieve, Sieve::create(*options.where, points.schema));
    outlet->leave_out_by(std::move(sieve));
  }
  for (const auto& source : sources) SJ_CHECK(source->connect(*outlet));
  outlet->announce_points();
  rests_until_ns.resize(options.triggers.size());
  return Watch::check(options.triggers, outlet->schema());
}

Result<void> Capture::State::arm() {
  const std::uint64_t before = base::monotonic_ns();
  for (const auto& source : sources) SJ_CHECK(source->arm());
  coverage.attach_time = nanoseconds(base::monotonic_ns() - before);
  for (const Engine* engine : engines) {
    coverage.sites += engine->sites();
    about.attach += (about.attach.empty() ? "" : " and ") + engine->mechanism();
  }
  about.tracer = "sojourn " SOJOURN_VERSION;
  about.engine = rings != nullptr ? model::Engine::kRing : model::Engine::kBpf;
  about.sites = static_cast<std::uint32_t>(coverage.sites);
  return {};
}

void Capture::State::open_gate() {
  std::uint64_t earliest = UINT64_MAX;
  for (const Engine* engine : engines) earliest = std::min(earliest, engine->earliest_ns());
  // A mark that has passed before every source knows of it would have lost what was hit in between.
  std::uint64_t lead = kGateLead;
  do {
    about.open_ns = std::min(base::monotonic_ns() + lead, earliest);
    for (const auto& source : sources) source->open_at(about.open_ns);
    lead *= 2;
  } while (about.open_ns != earliest && base::monotonic_ns() >= about.open_ns);
  outlet->begin(about.open_ns);
  if (options.duration) {
    end_ns = std::max(base::monotonic_ns(), about.open_ns) +
             static_cast<std::uint64_t>(options.duration->count());
    close_at(end_ns);
  }
  sleep_until(about.open_ns);
  tracer_cpu_at_open = own_cpu_time_ns();
  target_cpu_at_open = process->cpu_time_ns().value_or(0);
  target_cpu_last = target_cpu_at_open;
  next_second_ns = about.open_ns + kSecond;
  sink->push(about);
}

void Capture::State::close_at(std::uint64_t monotonic_ns) {
  for (const auto& source : sources) source->close_at(monotonic_ns);
}

Result<bool> Capture::State::poll() {
  bool more = false;
  for (const auto& source : sources) {
    SJ_TRY(left, source->poll());
    more |= left;
  }
  return more;
}

void Capture::State::flush() {
  for (const auto& source : sources) source->flush();
}

std::chrono::microseconds Capture::State::poll_period() const {
  auto period = std::chrono::microseconds::max();
  for (const auto& source : sources) period = std::min(period, source->poll_period());
  return period;
}

std::uint64_t Capture::State::events() const {
  std::uint64_t events = 0;
  for (const Engine* engine : engines) events += engine->events();
  return outlet->sieve() ? events - std::min(events, outlet->sieve()->filtered()) : events;
}

std::uint64_t Capture::State::other_events() const {
  std::uint64_t events = 0;
  for (const auto& source : sources) events += source->events();
  return events - this->events();
}

Result<model::Ledger> Capture::State::losses() const {
  model::Ledger ledger;
  for (const auto& source : sources) SJ_CHECK(source->add_losses(ledger));
  if (outlet->sieve()) outlet->sieve()->add_filtered(ledger);
  return ledger;
}

Capture::Capture(std::unique_ptr<State> state) : state_(std::move(state)) {}
Capture::Capture(Capture&&) noexcept = default;
Capture& Capture::operator=(Capture&&) noexcept = default;
Capture::~Capture() = default;

const Coverage& Capture::coverage() const {
  return state_->coverage;
}

Result<Capture> Capture::start(const target::Process& process, const target::Points& points,
                               Options options) {
  auto state = std::make_unique<State>();
  state->process = &process;
  state->target_points = &points;
  state->options = std::move(options);
  state->options.engines.bpf.link_each_point = state->options.budget.has_value();
  SJ_CHECK(state->make_sources(points));
  state->measure_costs(points);
  SJ_CHECK(state->open_sink(points));
  SJ_CHECK(state->set_budget(points));
  SJ_CHECK(state->arm());
  if (auto control = ControlSocket::listen(process.pid())) state->control = std::move(*control);
  if (!state->options.wait_for_start) state->open_gate();
  return Capture(std::move(state));
}

void Capture::describe(model::Target target) {
  state_->sink->push(std::move(target));
}

// Now and then all that is known goes to disk, so that a capture that is killed loses little.
Result<void> Capture::State::every_second(const Listener& listener) {
  const std::uint64_t now = base::monotonic_ns();
  if (now < next_second_ns) return {};
  next_second_ns += kSecond;
  target_cpu_last = process->cpu_time_ns().value_or(target_cpu_last);
  flush();
  SJ_TRY(losses, this->losses());
  sink->push(base::read_clock_pair());
  sink->push(losses);
  lost_so_far = total(losses);
  listener.progress({.elapsed = nanoseconds(now - about.open_ns),
                     .events = events(),
                     .lost = lost_so_far,
                     .bytes = sink->bytes()});
  return {};
}

Result<void> Capture::run(int signals, const Listener& listener) {
  State& state = *state_;
  const int control = state.control ? state.control->fd() : -1;
  std::array<pollfd, 3> watched = {{{.fd = signals, .events = POLLIN, .revents = 0},
                                    {.fd = state.process->pidfd(), .events = POLLIN, .revents = 0},
                                    {.fd = control, .events = POLLIN, .revents = 0}}};

  while (state.about.ended_by.empty()) {
    SJ_TRY(more, state.poll());
    const std::uint64_t now = base::monotonic_ns();
    SJ_CHECK(state.keep_budget(listener));
    SJ_CHECK(state.every_second(listener));
    SJ_CHECK(state.look_after_triggers(listener));
    SJ_CHECK(state.look_after_dumps(listener));
    const nanoseconds until_end(state.end_ns > now ? std::min(state.end_ns - now, kSecond) : 0);
    const nanoseconds timeout =
        more ? nanoseconds(0) : std::min<nanoseconds>(state.poll_period(), until_end);
    const timespec wait{.tv_sec = static_cast<time_t>(timeout.count() / 1'000'000'000),
                        .tv_nsec = static_cast<long>(timeout.count() % 1'000'000'000)};
    if (ppoll(watched.data(), watched.size(), &wait, nullptr) < 0 && errno != EINTR)
      return fail_errno("wait for the target");
    if (watched[2].revents != 0)
      for (const ControlSocket::Request& request : state.control->take())
        SJ_CHECK(state.obey(request));
    if (watched[1].revents != 0) state.about.ended_by = "target exit";
    if (watched[0].revents != 0) state.on_signal(read_signal(signals));
    if (now >= state.end_ns) state.about.ended_by = "duration";
    if (now >= state.stop_at_ns) state.about.ended_by = "trigger";
    if (state.sink->failed()) state.about.ended_by = "write error";
  }
  return {};
}

// Takes what is still in the rings, whatever time the disk needs.
Result<void> Capture::State::drain_rest() {
  for (bool more = true; more && !sink->failed();) {
    // Asked before: without room the drain took nothing, however much room there is by now.
    const bool had_room = sink->has_room();
    SJ_TRY(left, poll());
    more = left || !had_room;
    if (!had_room) std::this_thread::sleep_for(poll_period());
  }
  flush();
  return {};
}

Result<Outcome> Capture::finish() {
  State& state = *state_;
  if (!state.is_open())
    return fail("ended by {} before it was started: no trace was written", state.about.ended_by);
  // A gate that closes by itself, at the end of the duration, is left to that.
  state.about.close_ns = std::min(state.end_ns, base::monotonic_ns() + kGateLead);
  if (state.about.close_ns != state.end_ns) state.close_at(state.about.close_ns);
  sleep_until(state.about.close_ns);
  // An exited target's times are gone, and its pid may be another's: the last reading counts then.
  if (state.process->alive())
    state.target_cpu_last = state.process->cpu_time_ns().value_or(state.target_cpu_last);
  state.about.target_cpu_ns = state.target_cpu_last - state.target_cpu_at_open;

  // A hit inside the gate may still be on its way to its ring.
  for (const auto& source : state.sources) SJ_CHECK(source->settle());
  for (const auto& source : state.sources) source->disarm();
  SJ_CHECK(state.drain_rest());

  SJ_TRY(losses, state.losses());
  for (const auto& source : state.sources) SJ_CHECK(source->add_hits(state.about.stream_hits));
  if (state.outlet->sieve()) state.outlet->sieve()->close_up(state.about.stream_hits);
  for (const Engine* engine : state.engines)
    state.about.stamp_error_ns = std::max(state.about.stamp_error_ns, engine->stamp_error_ns());
  if (state.rings != nullptr)
    for (const model::ShedSpan& span : state.rings->silences()) state.about.shed.push_back(span);
  state.about.tracer_cpu_ns = own_cpu_time_ns() - state.tracer_cpu_at_open;
  state.about.tracer_rss_bytes = own_memory_bytes();
  for (model::ShedSpan& span : state.about.shed)
    if (span.until_ns == 0) span.until_ns = state.about.close_ns;
  state.sink->push(base::read_clock_pair());
  state.sink->push(losses);
  state.sink->push(state.about);
  SJ_TRY(path, state.end_file());
  return Outcome{
      .path = path,
      .dumps = state.dumps_done,
      .capture = state.about,
      .events = state.events(),
      .other_events = state.other_events(),
      .lost = total(losses),
      .filtered = filtered(losses),
      .bytes = state.sink->bytes(),
      .rings = state.rings != nullptr ? std::optional(state.rings->advice()) : std::nullopt};
}

std::size_t Capture::probes_left() const {
  return state_->bpf != nullptr && state_->bpf->is_armed() ? state_->bpf->sites() : 0;
}

void Capture::detach() {
  state_->engines.clear();
  state_->rings = nullptr;
  state_->bpf = nullptr;
  state_->sources.clear();
}

void Capture::abandon() {
  state_->sink->abandon();
}

}  // namespace sojourn::capture
