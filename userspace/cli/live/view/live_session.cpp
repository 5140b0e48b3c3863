#include "userspace/cli/live/view/live_session.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include <unistd.h>

#include "analysis/base/printable.h"
#include "analysis/live/whole_trace.h"
#include "userspace/base/forked_child.h"
#include "userspace/capture/api.h"
#include "userspace/cli/units.h"
#include "userspace/files/stream_address.h"
#include "userspace/files/trace_file.h"
#include "userspace/live/growing_file.h"
#include "userspace/live/growing_stream.h"
#include "userspace/tracee/points.h"
#include "userspace/tracee/process.h"

namespace sojourn::cli {

namespace {

using std::chrono::nanoseconds;

// Begins the line by which a capture says why it failed.
constexpr std::string_view kName = "sojourn: ";

// A writer flushes once a second, so a pause this long means that nothing more will come.
constexpr std::chrono::seconds kIdle(3);

// The amount by which the view may fall behind: a minute of a million events a second.
constexpr std::uint64_t kMaxMemoryBytes = 256u << 20;

std::uint64_t file_size(const std::string& path) {
  std::error_code unknown;
  const auto size = std::filesystem::file_size(path, unknown);
  return unknown ? 0 : size;
}

// A script's output would disturb the screen.
std::function<Result<live::LiveScript>(const model::Schema&, std::uint64_t)> live_script_of(
    scripts::ScriptSource source) {
  return [source = std::move(source)](const model::Schema& schema,
                                      std::uint64_t open_ns) -> Result<live::LiveScript> {
    SJ_TRY(events, scripts::ScriptStage::create(source, schema, open_ns, nullptr));
    live::LiveScript script = {.events = events, .keeps = {}, .notice = {}, .failure = {}};
    script.notice = [events] {
      return events->error().empty() ? events->idleness() : events->error();
    };
    if (!events->registration().filters_journeys) return script;
    SJ_TRY(made, scripts::JourneyScript::create(source, schema, open_ns, nullptr));
    const std::shared_ptr<scripts::JourneyScript> judge = std::move(made);
    script.keeps = [judge](const journeys::Journey& journey) { return (*judge)(journey); };
    script.failure = [judge] { return judge->error(); };
    return script;
  };
}

Result<live::LiveOptions> options_of(const LiveSettings& settings) {
  live::LiveOptions options;
  SJ_TRY(rules, settings.rules.read());
  options.rules = std::move(rules);
  SJ_TRY(interval, parse_duration(settings.interval));
  options.interval_ns = static_cast<std::uint64_t>(interval.count());
  SJ_TRY(window, parse_duration(settings.window));
  options.window_s = static_cast<std::size_t>(
      std::max<std::int64_t>(std::chrono::ceil<std::chrono::seconds>(window).count(), 1));
  options.explains = !settings.no_causes;
  if (settings.view_budget != "none") {
    options.budget = std::stod(settings.view_budget) / 100;
    options.processor_ns = [] {
      return static_cast<std::uint64_t>(
          base::processor_time(getpid()).value_or(nanoseconds(0)).count());
    };
  }
  SJ_TRY(source, settings.script.read());
  if (source) options.script = live_script_of(std::move(*source));
  return options;
}

}  // namespace

std::string name_of_growing(const std::string& path) {
  std::error_code unknown;
  const std::string partial = path + ".partial";
  return !std::filesystem::exists(path, unknown) && std::filesystem::exists(partial, unknown)
             ? partial
             : path;
}

Result<std::unique_ptr<LiveSession>> LiveSession::start(LiveSettings& settings) {
  std::unique_ptr<LiveSession> session(new LiveSession);
  SJ_TRY(options, options_of(settings));
  if (settings.path.empty()) {
    SJ_TRY(trace, settings.keeps_capture ? live_view::UnnamedTrace::on_disk()
                                         : live_view::UnnamedTrace::in_memory(kMaxMemoryBytes));
    SJ_TRY(capture,
           CapturedTrace::start(settings.record, std::move(trace), settings.not_for_capture));
    session->capture_ = std::move(capture);
    if (!settings.record.processes.pids.empty())
      session->captured_pid_ = settings.record.processes.pids.front();
    SJ_TRY(source, session->capture_->source());
    session->follow(std::move(source), std::move(options));
  } else {
    SJ_CHECK(session->open_file(settings, std::move(options)));
  }
  if (settings.filter.given()) {
    SJ_TRY(expression, settings.filter.expression());
    SJ_CHECK(session->trace_->choose({std::move(expression), settings.filter.text()}));
  }
  return session;
}

// A finished file is played. A file that is still being written is followed, and so is a stream.
Result<void> LiveSession::open_file(const LiveSettings& settings, live::LiveOptions options) {
  const std::string& path = settings.path;
  if (path == "-" && isatty(STDIN_FILENO) != 0)
    return fail("standard input is the terminal; give a file, or a stream's address");
  if (files::is_stream(path)) {
    SJ_TRY(source, live_view::open_growing_stream(path));
    follow(std::move(source), std::move(options));
    return {};
  }
  const std::string name = name_of_growing(path);
  if (file_size(name) > sizeof(trace::FileHeader)) {
    SJ_TRY(reader, files::open_trace(name));
    if (reader.had_index() || reader.capture().close_ns != 0) {
      trace_ = std::make_unique<live::WholeTrace>(std::move(reader), std::move(options));
      return {};
    }
  }
  SJ_TRY(source, live_view::open_growing(name, kIdle));
  follow(std::move(source), std::move(options));
  return {};
}

void LiveSession::follow(std::unique_ptr<trace::ByteSource> source, live::LiveOptions options) {
  auto growing = std::make_unique<live::GrowingTrace>(std::move(source), std::move(options));
  growing_ = growing.get();
  trace_ = std::move(growing);
}

std::string LiveSession::awaited() const {
  if (capture_ || growing_ == nullptr || growing_->events() != 0) return {};
  return fmt::format("{} of {}", growing_->has_begun() ? "an event" : "the begin",
                     growing_->name());
}

std::string LiveSession::not_finished() const {
  if (capture_ || growing_ == nullptr || !growing_->has_ended() || growing_->is_finished())
    return {};
  return fmt::format("{}: has no end, and nothing more comes", growing_->name());
}

Result<void> LiveSession::check_events() const {
  if (not_finished().empty() || growing_->events() != 0) return {};
  return fail("{}: has no event and no end, and nothing more comes", growing_->name());
}

bool LiveSession::has_nothing() const {
  if (growing_ == nullptr) return false;
  if (growing_->events() == 0) return true;
  return failure().empty() && !growing_->has_figures();
}

Result<bool> LiveSession::poll(const live::LiveTrace::Tick& tick) {
  SJ_TRY(came, trace_->poll(tick));
  if (came) {
    last_came_ = Clock::now();
    is_settled_ = false;
  } else if (!trace_->has_ended()) {
    SJ_CHECK(check_capture(came));
    SJ_CHECK(poll_idle(tick));
  }
  return came;
}

// After a long pause the events so far are taken as complete.
Result<bool> LiveSession::poll_idle(const live::LiveTrace::Tick& tick) {
  if (is_settled_ || Clock::now() - last_came_ < kIdle) return false;
  is_settled_ = true;
  SJ_CHECK(trace_->settle(tick));
  return true;
}

Result<void> LiveSession::check_capture(bool came) {
  if (came || !capture_ || !capture_->has_ended()) return {};
  // Its last blocks may have come in between.
  SJ_TRY(more, trace_->poll([] { return true; }));
  if (more || trace_->has_ended()) return {};
  take_messages();
  std::string why = last_message_;
  if (!failure().empty()) why.erase(0, kName.size());
  return fail("{}", why.empty() ? "the capture has ended before its time" : why);
}

Result<void> LiveSession::choose(const std::string& text) {
  live::Choice choice;
  choice.text = text;
  if (!text.empty()) {
    SJ_TRY(expression, filter::parse(text));
    choice.expression = std::move(expression);
  }
  return trace_->choose(std::move(choice));
}

// Adds the CPU time that the kernel counts for the processes of the capture.
void LiveSession::add_costs(live::Snapshot& snapshot) {
  constexpr std::chrono::milliseconds kLongEnough(500);
  if (snapshot.has_ended || growing_ == nullptr) return;
  const auto now = Clock::now();
  const CostsSeen costs = {
      .at = now,
      .capture = capture_ ? base::processor_time(capture_->pid()).value_or(nanoseconds(0))
                          : nanoseconds(0),
      .view = base::processor_time(getpid()).value_or(nanoseconds(0))};
  if (!seen_) seen_ = costs;
  if (now - seen_->at >= kLongEnough) {
    const auto cores = [&](nanoseconds before, nanoseconds after) {
      return static_cast<double>((after - before).count()) /
             static_cast<double>(nanoseconds(now - seen_->at).count());
    };
    if (capture_ && costs.capture >= seen_->capture)
      tracer_cores_ = cores(seen_->capture, costs.capture);
    view_cores_ = cores(seen_->view, costs.view);
    seen_ = costs;
  }
  snapshot.tracer_cores = tracer_cores_;
  snapshot.view_cores = view_cores_;
  if (snapshot.pid <= 0 || snapshot.cost_ns <= 0) return;
  const auto cpu = base::processor_time(snapshot.pid);
  if (!cpu) return;
  if (!target_seen_) target_seen_ = TargetSeen{.cost_ns = snapshot.cost_ns, .cpu = *cpu};
  const auto took = static_cast<double>((*cpu - target_seen_->cpu).count());
  if (took > 0 && !snapshot.cost_share)
    snapshot.cost_share = (snapshot.cost_ns - target_seen_->cost_ns) / took;
}

live::Snapshot LiveSession::snapshot() {
  live::Snapshot snapshot = trace_->snapshot();
  add_costs(snapshot);
  return snapshot;
}

std::vector<std::string> LiveSession::take_messages() {
  if (!capture_) return {};
  std::vector<std::string> lines = capture_->take_messages();
  if (!lines.empty()) last_message_ = lines.back();
  return lines;
}

std::string LiveSession::failure() const {
  return last_message_.starts_with(kName) ? last_message_ : "";
}

void LiveSession::stop() {
  if (capture_) capture_->stop();
}

pid_t LiveSession::pid() const {
  const pid_t told = trace_->snapshot().pid;
  return told > 0 ? told : captured_pid_;
}

Result<std::string> LiveSession::switch_points(const std::string& pattern, bool on) const {
  const pid_t target = pid();
  if (target <= 0) return fail("the trace does not say which process it is of");
  SJ_TRY(process, tracee::Process::open(target));
  SJ_TRY(points, tracee::find_points(process));
  auto control = capture::RingControl::open(process, points);
  if (!control) return std::unexpected(process.explain(std::move(control).error()));
  const auto switched = control->switch_points(pattern, on);
  if (switched.matched == 0) return fail("no point is called \"{}\"", printable(pattern));
  return fmt::format("switched {} {}", counted(switched.changed.size(), "point"),
                     on ? "on" : "off");
}

Result<std::string> LiveSession::ask(const std::string& words) const {
  const pid_t target = pid();
  if (target <= 0) return fail("the trace does not say which process it is of");
  SJ_TRY(answers, capture::ask_capture(target, words));
  // In one line: of several captures, one answer after the other.
  std::ranges::replace(answers, '\n', ';');
  return printable(answers);
}

}  // namespace sojourn::cli
