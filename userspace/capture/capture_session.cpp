#include "userspace/capture/capture_session.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/resource.h>

#include "analysis/base/second.h"
#include "userspace/base/clock.h"
#include "userspace/base/fail_errno.h"
#include "userspace/capture/budget_keeper.h"
#include "userspace/capture/capture_gate.h"
#include "userspace/capture/control/signals.h"
#include "userspace/capture/control_service.h"
#include "userspace/capture/flight_recorder.h"
#include "userspace/capture/helper_monitor.h"
#include "userspace/capture/hit_monitor.h"
#include "userspace/capture/loss_monitor.h"
#include "userspace/capture/metrics/metrics_service.h"
#include "userspace/capture/metrics_monitor.h"
#include "userspace/capture/output/writable.h"
#include "userspace/capture/processes/process_exits.h"
#include "userspace/capture/progress_reporter.h"
#include "userspace/capture/rights/rights.h"
#include "userspace/files/trace_file.h"
#include "userspace/tracee/host.h"

namespace sojourn::capture {

namespace {

using std::chrono::nanoseconds;

std::uint64_t own_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

model::Host described_host(const Options& options) {
  model::Host host = tracee::host_info();
  host.measured = options.machine;
  return host;
}

// A context's points are in the schema only if its programs were loaded.
void note_context(const model::Schema& schema, Coverage& coverage) {
  for (const model::Point& point : schema.points) {
    if (point.direction != model::Direction::kContext) continue;
    coverage.has_context = true;
    coverage.has_thread_states = coverage.has_thread_states || point.src == "sched.switch";
  }
}

// Writes the blocks that a reader needs before the first event.
Result<void> write_preamble(trace::Writer& writer, const model::Host& host,
                            const model::Schema& schema) {
  SJ_CHECK(writer.write(host));
  SJ_CHECK(writer.write(schema));
  return writer.write(base::read_clock_pair());
}

// Adds the options that the engines take from their capture.
void complete(EngineOptions& engines, const Options& options) {
  engines.rings.follow = options.follow;
  engines.rings.target_starts = options.is_command && !options.launches;
  if (options.follow || options.launches) engines.rings.first_clocks = read_counter_pair();
}

// The parts of a capture that work while it runs, each behind the parts that it uses.
struct Parts {
  Parts(const Options& options, TracedProcesses& processes, ProcessRecorder& process_recorder,
        SourceSet& sources, CaptureRecord& record, CaptureOutput& output, PointFinder& finder,
        TriggerWatch* watch, MetricsService* metrics);

  EventPump pump;
  CaptureGate gate;
  PointSwitches switches;
  ProcessNews news;
  LateJoiners joiners;
  CodeFollower code;
  FamilyFollower family;
  ScriptLaunch launch;
  ProcessExits exits;
  BudgetKeeper budget;
  HelperMonitor helpers;
  ProgressReporter progress;
  LossMonitor losses;
  HitMonitor hits;
  MetricsMonitor monitoring;
  std::optional<FlightRecorder> recorder;
  ControlService control;
  std::vector<Ticker*> tickers;  // in the order in which the loop ticks them
};

Parts::Parts(const Options& options, TracedProcesses& processes, ProcessRecorder& process_recorder,
             SourceSet& sources, CaptureRecord& record, CaptureOutput& output, PointFinder& finder,
             TriggerWatch* watch, MetricsService* metrics)
    : pump(sources, output.sink(), output),
      gate(options, sources, record, output, processes),
      switches(processes),
      joiners(options, processes, process_recorder, sources, record, output, finder, news),
      code(options, processes, process_recorder, sources, record, output, finder),
      family(options, processes, process_recorder, sources, record, output, joiners, code, news),
      launch(options, processes, sources, record, joiners, family, news),
      exits(options, processes, sources, record, output, launch, news),
      budget(options, processes, process_recorder, sources, record, output, pump),
      helpers(sources, record),
      progress(options, processes, record, output, pump),
      losses(record, output.sink(), pump),
      hits(options, processes, process_recorder, record, output, pump, switches),
      monitoring(metrics),
      control(options, record, output.sink(), pump, progress,
              [this] { return gate.open(tickers); }),
      tickers{&budget, &helpers, &progress, &losses, &hits, &monitoring} {
  if (watch != nullptr) {
    const auto answer = [this](int client, bool worked, const std::string& words) {
      control.answer(client, worked, words);
    };
    recorder.emplace(options, *watch, output.sink(), sources, pump, record, switches, progress,
                     answer);
    control.ask_for_dumps(*recorder);
    tickers.push_back(&*recorder);
  }
  for (Ticker* ticker : std::initializer_list<Ticker*>{&exits, &family, &joiners, &code, &launch})
    tickers.push_back(ticker);
  processes.observe(control);
  processes.observe(family);
  processes.observe(budget);
}

}  // namespace

// Members in the order in which they are acquired: the parts go first when this is destroyed, and
// then the probes.
class Capture::State {
 public:
  explicit State(Options options);
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    // A capture that did not come to its open mark must not leave an empty trace.
    if (sink && !record.is_open()) sink->abandon();
  }

  Result<void> open_sink();
  Result<void> open_stream(const FileOwner& owner, const model::Host& host);
  Result<void> make_parts();
  Result<void> arm();
  Result<void> wait(int signals, nanoseconds timeout, const Listener& listener);
  nanoseconds time_to_wait(bool has_more, std::uint64_t now_ns) const;
  void check_stop(std::uint64_t now_ns);
  Result<WrittenFile> end_file();

  const Options options;
  CaptureRecord record;
  PointFinder finder{options};
  TracedProcesses processes;          // they outlive the sources
  std::optional<TriggerWatch> watch;  // of a flight recorder; the sink's thread looks
  std::optional<BlockFeed> feed;      // if the trace is streamed as well
  std::unique_ptr<StreamServer> server;
  std::unique_ptr<MetricsService> metrics;
  std::optional<Sink> sink;
  std::optional<CaptureOutput> output;
  SourceSet sources;
  ProcessRecorder recorder{options, processes, sources, record};
  std::unique_ptr<Parts> parts;
  nanoseconds attach_time{};
  std::string left_before;  // of a killed capture, by its new name
  std::vector<pollfd> watched;

  // Measured when rings are recorded first, once for all of them.
  const CounterOffsets& measured_counters();
  std::optional<CounterOffsets> counters;
};

Capture::State::State(Options wanted)
    : options([&] {
        complete(wanted.engines, wanted);
        wanted.engines.rings.meet = [this](std::uint32_t pid) {
          parts->family.meet(static_cast<pid_t>(pid));
        };
        wanted.engines.rings.counters = [this]() -> const CounterOffsets& {
          return measured_counters();
        };
        return std::move(wanted);
      }()),
      record("sojourn " SOJOURN_VERSION, options.flight.has_value()) {}

const CounterOffsets& Capture::State::measured_counters() {
  if (counters) return *counters;
  counters = measure_counter_offsets(CounterCare::kBrief);
  std::vector<model::CounterOffset> told;
  for (const CounterOffset& each : counters->others)
    told.push_back({.cpu = each.cpu,
                    .ahead_ns = std::llround(each.ns),
                    .error_ns = static_cast<std::uint64_t>(std::llround(each.error_ns))});
  record.note_counters(std::move(told),
                       std::ranges::any_of(counters->others, &CounterOffset::is_apart));
  return *counters;
}

Result<void> Capture::State::open_sink() {
  const FileOwner owner = FileOwner::of(options.output);
  const model::Schema& schema = recorder.schema();
  const model::Host host = described_host(options);
  SJ_CHECK(open_stream(owner, host));
  const auto stored = options.stream.keeps_unread_only ? Sink::Stored::kUnread : Sink::Stored::kAll;
  if (options.flight) {
    SJ_TRY(put_aside, try_to_write(options.output, owner));
    left_before = std::move(put_aside);
    watch.emplace(options.triggers, schema);
    sink.emplace(std::make_unique<FlightStore>(*options.flight, host), owner,
                 [this](const Item& item, ItemStore& store) {
                   watch->look(item);
                   if (watch->has_fired()) store.pin();
                 });
    if (feed) sink->tap(*feed, schema, stored);
    sink->push(schema);
    sink->push(base::read_clock_pair());
  } else {
    const WriteAs as(owner);
    SJ_TRY(writer, options.sink ? trace::Writer::create(options.sink())
                                : files::create_trace(options.output));
    left_before = writer.put_aside();
    SJ_CHECK(write_preamble(writer, host, schema));
    sink.emplace(std::make_unique<FileStore>(std::move(writer)), owner);
    if (feed) {
      feed->take(schema);
      feed->take(base::read_clock_pair());
      sink->tap(*feed, schema, stored);
    }
  }
  if (options.loses_oldest) sink->when_behind(Sink::Behind::kGiveUpOldest);
  output.emplace(*sink, schema);
  if (options.where) {
    SJ_TRY(filter_stage, EventFilterStage::create(*options.where, schema));
    output->leave_out_by(std::move(filter_stage));
  }
  SJ_CHECK(sources.connect(*output));
  recorder.connect(*output);
  output->announce_points();
  return {};
}

Result<void> Capture::State::open_stream(const FileOwner& owner, const model::Host& host) {
  if (!options.stream.is_wanted() && !options.metrics.is_wanted()) return {};
  feed.emplace(host);
  if (options.metrics.is_wanted()) {
    SJ_TRY(service, MetricsService::start(options.metrics, *feed, options.flush_period, owner));
    metrics = std::move(service);
  }
  if (!options.stream.is_wanted()) return {};
  SJ_TRY(started, StreamServer::start(options.stream, *feed, owner));
  server = std::move(started);
  return {};
}

Result<void> Capture::State::make_parts() {
  parts = std::make_unique<Parts>(options, processes, recorder, sources, record, *output, finder,
                                  watch ? &*watch : nullptr, metrics.get());
  if (parts->recorder) SJ_CHECK(parts->recorder->check_triggers(output->schema()));
  return parts->budget.start();
}

Result<void> Capture::State::arm() {
  const std::uint64_t before = base::monotonic_ns();
  SJ_CHECK(sources.arm());
  attach_time = nanoseconds(base::monotonic_ns() - before);
  for (const EventEngine* engine : sources.engines())
    record.note_engine(*engine, sources.has_rings());
  return {};
}

Capture::Capture(std::unique_ptr<State> state) : state_(std::move(state)) {}
Capture::Capture(Capture&&) noexcept = default;
Capture& Capture::operator=(Capture&&) noexcept = default;
Capture::~Capture() = default;

Result<Capture> Capture::start(std::vector<Subject> subjects, Options options) {
  auto state = std::make_unique<State>(std::move(options));
  const Options& how = state->options;
  SJ_CHECK(state->recorder.add_subjects(std::move(subjects)));
  state->processes.first().expect_rings(how.launches && how.engines.wanted != model::Engine::kBpf);
  SJ_CHECK(state->recorder.make_sources());
  SJ_CHECK(state->open_sink());
  SJ_CHECK(state->make_parts());
  state->sink->count_points(state->output->schema().points.size());
  SJ_CHECK(state->arm());
  state->parts->control.listen(state->processes);
  SJ_CHECK(state->parts->family.start());
  if (!how.wait_for_start) SJ_CHECK(state->parts->gate.open(state->parts->tickers));
  return Capture(std::move(state));
}

Coverage Capture::coverage() const {
  Coverage coverage = state_->recorder.coverage();
  coverage.sites = state_->record.about().sites;
  coverage.attach_time = state_->attach_time;
  coverage.why_no_costs = state_->recorder.costs().why_unknown();
  coverage.why_only_looks = state_->parts->family.why_only_looks();
  note_context(state_->output->schema(), coverage);
  return coverage;
}

std::vector<std::string> Capture::streams() const {
  std::vector<std::string> addresses;
  if (state_->server)
    for (const files::StreamAddress& address : state_->server->addresses())
      addresses.push_back(address.text());
  return addresses;
}

base::Fd Capture::own_stream() {
  return state_->server ? state_->server->own_stream() : base::Fd();
}

std::optional<std::string> Capture::metrics() const {
  return state_->metrics ? state_->metrics->address() : std::nullopt;
}

std::size_t Capture::points() const {
  return state_->output->schema().points.size();
}

void Capture::describe() {
  for (const auto& one : state_->processes.all()) {
    if (auto who = one->process.describe()) one->about = std::move(*who);
    state_->sink->push(one->about);
  }
}

void Capture::has_begun(tracee::Process command) {
  TracedProcess& process = state_->processes.first();
  process.process = std::move(command);
  if (auto who = process.process.describe()) process.about = std::move(*who);
  state_->sink->push(process.about);
}

std::vector<const tracee::Process*> Capture::processes() const {
  std::vector<const tracee::Process*> alive;
  for (const auto& one : state_->processes.all())
    if (!one->has_ended()) alive.push_back(&one->process);
  return alive;
}

nanoseconds Capture::State::time_to_wait(bool has_more, std::uint64_t now_ns) const {
  if (has_more) return nanoseconds(0);
  const std::uint64_t end_ns = record.end_ns();
  const nanoseconds until_end(end_ns > now_ns ? std::min(end_ns - now_ns, kNsPerSecond) : 0);
  return std::min<nanoseconds>(parts->pump.poll_period(), until_end);
}

// Waits for events, a signal, a request, a fork or the end of a process.
Result<void> Capture::State::wait(int signals, nanoseconds timeout, const Listener& listener) {
  watched = {{.fd = signals, .events = POLLIN, .revents = 0},
             {.fd = parts->control.fd(), .events = POLLIN, .revents = 0},
             {.fd = parts->family.fd(), .events = POLLIN, .revents = 0}};
  const std::size_t pidfds = watched.size();
  parts->exits.add_pidfds(watched);
  const timespec wait{.tv_sec = static_cast<time_t>(timeout.count() / 1'000'000'000),
                      .tv_nsec = static_cast<long>(timeout.count() % 1'000'000'000)};
  const std::uint64_t waiting_from = base::monotonic_ns();
  if (ppoll(watched.data(), watched.size(), &wait, nullptr) < 0 && errno != EINTR)
    return fail_errno("wait for the target");
  const std::uint64_t waited = base::monotonic_ns() - waiting_from;
  record.note_starved(waited - std::min(waited, static_cast<std::uint64_t>(timeout.count())));
  if (watched[1].revents != 0) SJ_CHECK(parts->control.take_requests());
  SJ_CHECK(parts->exits.take(std::span(watched).subspan(pidfds), listener));
  if (watched[0].revents != 0) parts->control.on_signal(read_signal(signals));
  return {};
}

void Capture::State::check_stop(std::uint64_t now_ns) {
  if (now_ns >= record.end_ns()) record.end("duration");
  if (parts->recorder && parts->recorder->is_stop_due(now_ns)) record.end("trigger");
  if (sink->failed()) record.end("write error");
}

Result<void> Capture::run(int signals, const Listener& listener) {
  State& state = *state_;
  if (!state.left_before.empty()) listener.say(put_aside_text(state.left_before));
  while (!state.record.has_ended()) {
    SJ_TRY(more, state.parts->pump.poll());
    const std::uint64_t now_ns = base::monotonic_ns();
    for (Ticker* ticker : state.parts->tickers) SJ_CHECK(ticker->tick(listener));
    SJ_CHECK(state.wait(signals, state.time_to_wait(more, now_ns), listener));
    state.check_stop(now_ns);
  }
  state.parts->launch.finish(listener);
  return {};
}

Result<WrittenFile> Capture::State::end_file() {
  if (parts->recorder) return parts->recorder->finish();
  SJ_CHECK(sink->finish());
  return WrittenFile{.path = options.output, .bytes = sink->bytes()};
}

Result<Outcome> Capture::finish() {
  State& state = *state_;
  Parts& parts = *state.parts;
  CaptureRecord& record = state.record;
  if (parts.recorder) SJ_CHECK(parts.recorder->wait_for_file_start());
  if (!record.is_open())
    return fail("ended by {} before it was started: no trace was written", record.about().ended_by);
  parts.gate.close();
  parts.switches.switch_back();
  record.note_target_cpu(state.processes.cpu_ns());
  state.processes.name_threads(*state.output, ThreadNames::Look::kAll);

  // A hit inside the gate may still be on its way to its ring.
  SJ_CHECK(state.sources.settle());
  state.sources.disarm();
  state.sink->when_behind(Sink::Behind::kWait);  // no newer events will come, so none are given up
  SJ_CHECK(parts.pump.drain_rest());
  parts.family.note_met();
  state.output->announce_points();  // also those of a program that ended before it was attached to

  SJ_TRY(losses, parts.pump.losses());
  SJ_TRY(never_hit, parts.hits.never_hit());
  SJ_TRY(never_on, parts.hits.never_on());
  record.note_off(never_on);
  SJ_TRY(stream_hits, state.sources.hits());
  if (state.output->filter_stage()) state.output->filter_stage()->close_up(stream_hits);
  record.finish({.stream_hits = std::move(stream_hits),
                 .stamp_error_ns = state.sources.stamp_error_ns(),
                 .events_of_unknown_cpu = state.sources.events_of_unknown_cpu(),
                 .silences = state.sources.silences(),
                 .tracer_cpu_ns = parts.gate.tracer_cpu_ns(),
                 .tracer_rss_bytes = own_memory_bytes()});
  state.sink->push(base::read_clock_pair());
  state.sink->push(losses);
  state.sink->push(record.about());
  auto ended = state.end_file();
  const bool all_have_it = !state.server || state.server->finish();  // also where the disk is full
  SJ_TRY(file, std::move(ended));
  BlockFeed::Totals streamed = state.feed ? state.feed->totals() : BlockFeed::Totals();
  // Readers within this process are not counted.
  streamed.readers -= (state.metrics ? 1U : 0U) + (state.options.stream.has_own_reader ? 1U : 0U);
  auto influx = state.metrics ? state.metrics->finish() : std::nullopt;
  const NotKept missing = not_kept(losses);
  const EventPump::GivenUp given_up = parts.pump.given_up();
  return Outcome{.path = std::move(file.path),
                 .dumps = parts.recorder ? parts.recorder->dumps() : 0U,
                 .capture = record.about(),
                 .events = parts.pump.events() - given_up.events,
                 .other_events = parts.pump.other_events() - given_up.other_events,
                 .lost = missing.lost,
                 .filtered = missing.filtered,
                 .bytes = file.bytes,
                 .streamed = streamed,
                 .has_cut_off_readers = !all_have_it,
                 .reconnections = state.server ? state.server->reconnections() : 0,
                 .influx = std::move(influx),
                 .never_hit = std::move(never_hit),
                 .switched = parts.switches.switched_points().size(),
                 .rings = state.sources.ring_advice()};
}

std::size_t Capture::probes_left() const {
  return state_->sources.probes_armed();
}

void Capture::detach() {
  state_->sources.clear();
}

void Capture::abandon() {
  state_->sink->abandon();
}

}  // namespace sojourn::capture
