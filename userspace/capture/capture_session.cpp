#include "userspace/capture/capture_session.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/resource.h>

#include "userspace/base/clock.h"
#include "userspace/base/privileged_helper.h"
#include "userspace/capture/bpf/calibrate.h"
#include "userspace/capture/capture_state.h"
#include "userspace/capture/control/signals.h"
#include "userspace/capture/output/writable.h"
#include "userspace/capture/rights/rights.h"
#include "userspace/target/host.h"

namespace sojourn::capture {

namespace {

using std::chrono::nanoseconds;

constexpr std::uint64_t kSecond = 1'000'000'000;

// Between two looks while there is nothing to look into yet.
constexpr std::chrono::microseconds kLongestPeriod{20'000};

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

// What a reader needs before the first event.
Result<void> write_preamble(trace::Writer& writer, const model::Schema& schema) {
  SJ_CHECK(writer.write(target::host_info()));
  SJ_CHECK(writer.write(schema));
  return writer.write(base::read_clock_pair());
}

}  // namespace

Result<void> Capture::State::open_sink() {
  const FileOwner owner = FileOwner::of(options.output);
  if (options.flight) {
    SJ_TRY(put_aside, try_to_write(options.output, owner));
    left_before = std::move(put_aside);
    watch.emplace(options.triggers, schema);
    sink.emplace(std::make_unique<FlightStore>(*options.flight, target::host_info()), owner,
                 [this](const Item& item, Store& store) {
                   watch->look(item);
                   if (watch->has_fired()) store.pin();
                 });
    sink->push(schema);
    sink->push(base::read_clock_pair());
    dumps.emplace(options.output, options.aftermath);
    is_held = true;
  } else {
    const WriteAs as(owner);
    SJ_TRY(writer, trace::Writer::create(options.output));
    left_before = writer.put_aside();
    SJ_CHECK(write_preamble(writer, schema));
    sink.emplace(std::make_unique<FileStore>(std::move(writer)), owner);
  }
  if (options.loses_oldest) sink->when_behind(Sink::Behind::kGiveUpOldest);
  output.emplace(*sink, schema);
  if (options.where) {
    SJ_TRY(filter_stage, EventFilterStage::create(*options.where, schema));
    output->leave_out_by(std::move(filter_stage));
  }
  for (const auto& source : sources) SJ_CHECK(source->connect(*output));
  output->announce_points();
  triggered.rests_until_ns.resize(options.triggers.size());
  return check_triggers();
}

Result<void> Capture::State::arm() {
  const std::uint64_t before = base::monotonic_ns();
  for (const auto& source : sources) SJ_CHECK(source->arm());
  coverage.attach_time = nanoseconds(base::monotonic_ns() - before);
  about.tracer = "sojourn " SOJOURN_VERSION;
  about.engine = model::Engine::kBpf;
  for (const Engine* engine : engines) note_engine(*engine);
  about.sites = static_cast<std::uint32_t>(coverage.sites);
  return {};
}

void Capture::State::note_engine(const Engine& engine) {
  coverage.sites += engine.sites();
  if (!rings.empty()) about.engine = model::Engine::kRing;
  const std::string mechanism = engine.mechanism();
  if (!about.attach.contains(mechanism))
    about.attach += (about.attach.empty() ? "" : " and ") + mechanism;
}

Result<std::uint64_t> open_together(std::span<const std::unique_ptr<Source>> sources,
                                    std::uint64_t latest_ns) {
  // Where this thread is kept from its CPU, a mark may have passed before every source knows of it.
  for (std::uint64_t lead = kGateLead;; lead *= 2) {
    const std::uint64_t open_ns = std::min(base::monotonic_ns() + lead, latest_ns);
    for (const auto& source : sources) source->open_at(open_ns);
    if (open_ns == latest_ns || base::monotonic_ns() < open_ns) return open_ns;
    for (const auto& source : sources) SJ_CHECK(source->start_over());
  }
}

Result<void> Capture::State::open_gate() {
  // What was recorded before is kept as far back as every engine has all of it.
  std::uint64_t earliest = engines.empty() ? UINT64_MAX : 0;
  for (const Engine* engine : engines) earliest = std::max(earliest, engine->earliest_ns());
  SJ_TRY(open_ns, open_together(sources, earliest));
  about.open_ns = open_ns;
  output->begin(about.open_ns);
  if (options.duration) {
    end_ns = std::max(base::monotonic_ns(), about.open_ns) +
             static_cast<std::uint64_t>(options.duration->count());
    close_at(end_ns);
  }
  sleep_until(about.open_ns);
  tracer_cpu_at_open = own_cpu_time_ns();
  for (const auto& member : members) {
    member->cpu_first_ns = member->process.cpu_time_ns().value_or(0);
    member->cpu_last_ns = member->cpu_first_ns;
  }
  next_second_ns = about.open_ns + kSecond;
  sink->push(about);
  name_threads(ThreadNames::Look::kNew);
  return {};
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
  auto period = engines.empty() ? kLongestPeriod : std::chrono::microseconds::max();
  for (const auto& source : sources) period = std::min(period, source->poll_period());
  return period;
}

Capture::Capture(std::unique_ptr<State> state) : state_(std::move(state)) {}
Capture::Capture(Capture&&) noexcept = default;
Capture& Capture::operator=(Capture&&) noexcept = default;
Capture::~Capture() = default;

const Coverage& Capture::coverage() const {
  return state_->coverage;
}

std::size_t Capture::points() const {
  return state_->output->schema().points.size();
}

Result<Capture> Capture::start(std::vector<Subject> subjects, Options options) {
  auto state = std::make_unique<State>();
  state->options = std::move(options);
  state->options.engines.bpf.link_each_point = state->options.budget.has_value();
  Options& how = state->options;
  how.engines.rings.follow = how.follow;
  how.engines.rings.target_starts = how.is_command && !how.launches;
  if (how.follow || how.launches) how.engines.rings.first_clocks = read_counter_pair();
  state->options.engines.rings.meet = [state = state.get()](std::uint32_t pid) {
    state->family.met.push_back(static_cast<pid_t>(pid));
  };
  SJ_CHECK(state->join_members(std::move(subjects)));
  const bool may_have_rings = how.engines.wanted != model::Engine::kBpf;
  state->members.front()->is_held = how.is_command;
  state->members.front()->rings_may_come = how.launches && may_have_rings;
  SJ_CHECK(state->make_sources());
  state->measure_costs();
  SJ_CHECK(state->open_sink());
  SJ_CHECK(state->set_budget());
  state->sink->count_points(state->output->schema().points.size());
  SJ_CHECK(state->arm());
  state->listen_for_ctl();
  SJ_CHECK(state->follow());
  if (!state->options.wait_for_start) SJ_CHECK(state->open_gate());
  return Capture(std::move(state));
}

// Somebody may have killed them. Without its probes a capture would say that nothing is hit;
// without the privileged helper it goes on with what it has.
Result<void> Capture::State::poll_helpers(const Listener& listener) {
  const std::uint64_t now_ns = base::monotonic_ns();
  const bool are_held = std::ranges::all_of(bpf, &BpfEngine::holds_probes);
  if (!are_held) {
    // Up to the close mark, which is at most so far ahead.
    note_unarmed({.pid = 0,
                  .point = model::kNoPoint,
                  .from_ns = std::max(about.open_ns, probes_seen_ns),
                  .until_ns = now_ns + kSecond / 4});
    return fail("the process that holds the probes was killed");
  }
  probes_seen_ns = now_ns;
  const base::PrivilegedHelper* const helper = base::PrivilegedHelper::of_this_process();
  if (helper != nullptr && !helper->is_alive() && !std::exchange(told_of_no_helper, true))
    listener.say(
        "the process that keeps the rights was killed: libraries, children and processes that come "
        "from now on are not recorded");
  return {};
}

void Capture::State::name_threads(ThreadNames::Look what) {
  model::Context found;
  for (const auto& member : members)
    if (!member->has_ended) output->thread_names().look(member->process, what, found);
  if (!found.empty()) sink->push(std::move(found));
}

// Now and then all that is known goes to disk, so that a capture that is killed loses little.
Result<void> Capture::State::every_second(const Listener& listener) {
  const std::uint64_t now = base::monotonic_ns();
  if (now < next_second_ns) return {};
  next_second_ns += kSecond;
  SJ_CHECK(poll_helpers(listener));
  target_cpu_ns();
  flush();
  SJ_TRY(losses, this->losses());
  sink->push(base::read_clock_pair());
  sink->push(losses);
  write_unarmed();
  name_threads(ThreadNames::Look::kNew);
  lost_so_far = not_kept(losses).lost;
  listener.progress({.elapsed = nanoseconds(now - about.open_ns),
                     .events = events(),
                     .lost = lost_so_far,
                     .bytes = sink->bytes()});
  return {};
}

Result<void> Capture::run(int signals, const Listener& listener) {
  State& state = *state_;
  const int control = state.control ? state.control->fd() : -1;
  std::vector<pollfd> watched;

  if (!state.left_before.empty()) listener.say(put_aside_words(state.left_before));
  while (state.about.ended_by.empty()) {
    SJ_TRY(more, state.poll());
    const std::uint64_t now = base::monotonic_ns();
    SJ_CHECK(state.keep_budget(listener));
    SJ_CHECK(state.every_second(listener));
    SJ_CHECK(state.poll_losses(listener));
    SJ_CHECK(state.poll_hits(listener));
    SJ_CHECK(state.poll_triggers(listener));
    SJ_CHECK(state.poll_dumps(listener));
    SJ_CHECK(state.poll_members(listener));
    SJ_CHECK(state.poll_launch(listener));
    watched = {
        {.fd = signals, .events = POLLIN, .revents = 0},
        {.fd = control, .events = POLLIN, .revents = 0},
        {.fd = state.family.watch ? state.family.watch->fd() : -1, .events = POLLIN, .revents = 0}};
    state.add_pidfds(watched);
    const nanoseconds until_end(state.end_ns > now ? std::min(state.end_ns - now, kSecond) : 0);
    const nanoseconds timeout =
        more ? nanoseconds(0) : std::min<nanoseconds>(state.poll_period(), until_end);
    const timespec wait{.tv_sec = static_cast<time_t>(timeout.count() / 1'000'000'000),
                        .tv_nsec = static_cast<long>(timeout.count() % 1'000'000'000)};
    const std::uint64_t waiting_from = base::monotonic_ns();
    if (ppoll(watched.data(), watched.size(), &wait, nullptr) < 0 && errno != EINTR)
      return fail_errno("wait for the target");
    const std::uint64_t waited = base::monotonic_ns() - waiting_from;
    const auto wanted = static_cast<std::uint64_t>(timeout.count());
    state.about.longest_starved_ns =
        std::max(state.about.longest_starved_ns, waited - std::min(waited, wanted));
    if (watched[1].revents != 0)
      for (const ControlSocket::Request& request : state.control->take())
        SJ_CHECK(state.obey(request));
    SJ_CHECK(state.end_members(std::span(watched).subspan(3), listener));
    if (watched[0].revents != 0) state.on_signal(read_signal(signals));
    if (now >= state.end_ns) state.about.ended_by = "duration";
    if (now >= state.triggered.stop_at_ns && state.events() >= state.triggered.stop_at_events)
      state.about.ended_by = "trigger";
    if (state.sink->failed()) state.about.ended_by = "write error";
  }
  if (state.options.launches) state.look_at_left_rings(listener, true);
  return {};
}

// True: there is more.
Result<bool> Capture::State::poll_with_room() {
  // Asked before: without room the drain took nothing, however much room there is by now.
  const bool had_room = sink->has_room();
  SJ_TRY(more, poll());
  if (!had_room) std::this_thread::sleep_for(poll_period());
  return !sink->failed() && (more || !had_room);
}

// Takes what is still in the rings, whatever time the disk needs. Nothing comes any more.
Result<void> Capture::State::drain_rest() {
  for (bool more = true; more;) {
    SJ_TRY(left, poll_with_room());
    more = left;
  }
  flush();
  return {};
}

Result<Outcome> Capture::finish() {
  State& state = *state_;
  SJ_CHECK(state.wait_for_start());
  if (!state.is_open())
    return fail("ended by {} before it was started: no trace was written", state.about.ended_by);
  // A gate that closes by itself, at the end of the duration, is left to that. Else the mark is as
  // far ahead as this thread was ever kept from its CPU, and more.
  const std::uint64_t lead = std::clamp(2 * state.about.longest_starved_ns, kGateLead, kSecond / 4);
  state.about.close_ns = std::min(state.end_ns, base::monotonic_ns() + lead);
  if (state.about.close_ns != state.end_ns) state.close_at(state.about.close_ns);
  sleep_until(state.about.close_ns);
  state.switch_back();
  state.about.target_cpu_ns = state.target_cpu_ns();
  state.name_threads(ThreadNames::Look::kAll);

  // A hit inside the gate may still be on its way to its ring.
  for (const auto& source : state.sources) SJ_CHECK(source->settle());
  for (const auto& source : state.sources) source->disarm();
  state.sink->when_behind(Sink::Behind::kWait);  // nothing comes any more that could be newer
  SJ_CHECK(state.drain_rest());
  state.note_met();
  state.output->announce_points();  // also those of a program that ended before it was attached to

  SJ_TRY(losses, state.losses());
  SJ_TRY(never_hit, state.never_hit());
  state.about.stream_hits = state.retired.hits;
  for (const auto& source : state.sources) SJ_CHECK(source->add_hits(state.about.stream_hits));
  if (state.output->filter_stage()) state.output->filter_stage()->close_up(state.about.stream_hits);
  for (const Engine* engine : state.engines)
    state.about.stamp_error_ns = std::max(state.about.stamp_error_ns, engine->stamp_error_ns());
  for (const RingEngine* rings : state.rings)
    for (const model::ShedSpan& span : rings->silences()) state.about.shed.push_back(span);
  state.about.tracer_cpu_ns = own_cpu_time_ns() - state.tracer_cpu_at_open;
  state.about.tracer_rss_bytes = own_memory_bytes();
  for (model::ShedSpan& span : state.about.shed)
    if (span.until_ns == 0) span.until_ns = state.about.close_ns;
  state.sink->push(base::read_clock_pair());
  state.sink->push(losses);
  state.sink->push(state.about);
  SJ_TRY(file, state.end_file());
  const NotKept missing = not_kept(losses);
  const State::GivenUp given_up = state.given_up();
  return Outcome{.path = std::move(file.path),
                 .dumps = state.dumps_done,
                 .capture = state.about,
                 .events = state.events() - given_up.events,
                 .other_events = state.other_events() - given_up.other_events,
                 .lost = missing.lost,
                 .filtered = missing.filtered,
                 .bytes = file.bytes,
                 .never_hit = std::move(never_hit),
                 .switched = state.switched_points().size(),
                 .rings = state.ring_advice()};
}

std::size_t Capture::probes_left() const {
  std::size_t probes = 0;
  for (const BpfEngine* engine : state_->bpf)
    if (engine->is_armed()) probes += engine->sites();
  return probes;
}

void Capture::detach() {
  state_->engines.clear();
  state_->rings.clear();
  state_->bpf.clear();
  for (const auto& member : state_->members) member->engines.clear();
  state_->others.clear();
  state_->sources.clear();
}

void Capture::abandon() {
  state_->sink->abandon();
}

}  // namespace sojourn::capture
