// `sojourn record`: attach to a process, or start a command, and write its trace.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "userspace/base/attacher.h"
#include "userspace/base/fd.h"
#include "userspace/capture/attacher/charge.h"
#include "userspace/capture/attacher/errands.h"
#include "userspace/capture/bpf/attach.h"
#include "userspace/capture/capture.h"
#include "userspace/capture/control/command.h"
#include "userspace/capture/hit_watch.h"
#include "userspace/capture/rights/rights.h"
#include "userspace/cli/command.h"
#include "userspace/cli/record/auto.h"
#include "userspace/cli/record/collector.h"
#include "userspace/cli/record/context.h"
#include "userspace/cli/record/flight.h"
#include "userspace/cli/record/held.h"
#include "userspace/cli/record/perf.h"
#include "userspace/cli/record/post_mortem.h"
#include "userspace/cli/record/processes.h"
#include "userspace/cli/record/queues.h"
#include "userspace/cli/record/selection.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/units.h"
#include "userspace/target/process.h"
#include "userspace/target/selection.h"

namespace sojourn::cli {

namespace {

enum class Attach { kAuto, kMulti, kPerf };
enum class EngineWanted { kAuto, kBpf, kRing };

struct Options {
  ProcessOptions processes;
  std::vector<std::string> command;
  std::string output = "run.sjt";
  std::string duration;
  std::string ring_size;
  std::string ring_memory;
  double poll_ms = 0;
  double budget_percent = 0;
  bool loses_oldest = false;
  EngineWanted engine = EngineWanted::kAuto;
  Attach attach = Attach::kAuto;
  ContextWanted context;
  PerfWanted perf;
  QueueOptions queues;
  RecordSelection selection;
  bool quiet = false;
  FlightOptions flight;
  CollectorOptions collector;
  AutoOptions automatic;
  PostMortemOptions post_mortem;
  SnapshotOption snapshot;

  // Rings that the target fills by itself: nothing is attached.
  bool is_held() const { return snapshot.is_asked() || flight.is_rings(); }
};

// Interrupts become readable on a descriptor, so that no code runs in a signal handler. Children
// start with the signals unblocked again.
Result<base::Fd> catch_interrupts() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);  // a pipe that nobody reads is an error to tell, not to die of
  base::Fd fd(signalfd(-1, &signals, SFD_CLOEXEC));
  if (!fd) return fail_errno("watch for interrupts");
  return fd;
}

Result<capture::Options> capture_options(const Options& options) {
  capture::Options result;
  result.output = options.output;
  if (!options.duration.empty()) {
    SJ_TRY(duration, parse_duration(options.duration));
    result.duration = duration;
  }
  if (!options.ring_size.empty()) {
    SJ_TRY(bytes, parse_bytes(options.ring_size));
    result.engines.bpf.ring_bytes = bytes;
    result.engines.rings.ring_bytes = bytes;
  }
  if (!options.ring_memory.empty()) {
    SJ_TRY(bytes, parse_bytes(options.ring_memory));
    result.engines.rings.memory_ceiling = bytes;
  }
  if (options.poll_ms > 0) {
    const std::chrono::microseconds period(std::llround(options.poll_ms * 1000));
    result.engines.bpf.poll_period = period;
    result.engines.rings.poll_period = period;
  }
  SJ_CHECK(options.flight.apply(result));
  result.loses_oldest = options.loses_oldest;
  if (options.budget_percent > 0) result.budget = options.budget_percent / 100;
  // How probes are placed is a question of eBPF only.
  if (options.engine == EngineWanted::kBpf || options.attach != Attach::kAuto)
    result.engines.wanted = model::Engine::kBpf;
  if (options.engine == EngineWanted::kRing) result.engines.wanted = model::Engine::kRing;
  if (options.attach == Attach::kMulti)
    result.engines.bpf.mechanism = capture::Mechanism::kUprobeMulti;
  if (options.attach == Attach::kPerf)
    result.engines.bpf.mechanism = capture::Mechanism::kPerfUprobes;
  SJ_CHECK(want_context(options.context, options.quiet, options.poll_ms, result));
  SJ_CHECK(want_perf(options.perf, options.quiet, options.poll_ms, result));
  SJ_CHECK(add_queue_sampler(options.queues, result));
  return result;
}

void tell_looks(const capture::Coverage& coverage) {
  if (!coverage.why_only_looks.empty())
    tell("forked children are looked for in /proc, and brief ones may be missed: {}\n",
         coverage.why_only_looks);
}

// Of a command that has no points.
void tell_launched(const Options& options, const capture::Coverage& coverage) {
  if (options.quiet) return;
  tell("{} has no points: what it executes is recorded{}\n", options.command.front(),
       options.processes.follow ? ", and what it starts" : "");
  if (options.processes.follow) tell_looks(coverage);
}

void tell_attached(const Options& options, const capture::Capture& capture) {
  if (options.quiet) return;
  using Milliseconds = std::chrono::duration<double, std::milli>;
  const capture::Coverage& coverage = capture.coverage();
  const std::size_t attached = coverage.ring_points + coverage.bpf_points;
  if (attached + coverage.uncovered_points == 0) {
    tell("no points: only {} recorded\n", !options.context.families.empty() ? "its context is"
                                          : options.queues.wanted           ? "its queues are"
                                                                            : "its counters are");
    return;
  }
  tell("attached {} at {}{} in {:.0f} ms, {}\n", counted(attached, "point"),
       counted(coverage.sites, "site"),
       coverage.processes == 1 ? "" : " of " + counted(coverage.processes, "process"),
       Milliseconds(coverage.attach_time).count(),
       coverage.bpf_points == 0    ? "by rings"
       : coverage.ring_points == 0 ? "by eBPF"
                                   : fmt::format("{} by rings and {} by eBPF, which have none",
                                                 coverage.ring_points, coverage.bpf_points));
  if (!coverage.why_not_rings.empty()) tell("not by rings: {}\n", coverage.why_not_rings);
  if (coverage.has_unsteady_times)
    tell(
        "times will be wrong: the cycle counter, which rings are stamped with, does not tick "
        "steadily on this machine: --engine bpf needs none\n");
  if (!coverage.why_no_costs.empty())
    tell("what tracing costs is not known: {}\n", coverage.why_no_costs);
  tell_looks(coverage);
  if (coverage.uncovered_points != 0)
    tell("not traced: {} without rings: {}\n", counted(coverage.uncovered_points, "point"),
         coverage.why_not_bpf);
  if (coverage.mechanism == capture::Mechanism::kPerfUprobes)
    tell(
        "{}: attached by perf uprobes, which every process that maps the same files traps on, and "
        "which take longer to remove\n",
        options.attach == Attach::kPerf
            ? "as asked"
            : "this kernel has no uprobe_multi links that filter by process (Linux 6.10 has)");
}

// One line that rewrites itself on a terminal.
class RunningTotals {
 public:
  explicit RunningTotals(bool quiet) : terminal_(!quiet && isatty(STDERR_FILENO) == 1) {}

  void operator()(const capture::Progress& progress) const {
    if (terminal_)
      tell("\r\033[K{}  {} events  {} lost  {}", seconds(progress.elapsed),
           grouped(progress.events), grouped(progress.lost), bytes(progress.bytes));
  }

  void clear() const {
    if (terminal_) tell("\r\033[K");
  }

 private:
  bool terminal_;
};

// What the rings' sizes and contents were like, where that was not as it should be.
void tell_advice(const capture::RingAdvice& advice) {
  const bool is_tight = advice.most_filled * 2 > advice.ring_bytes;
  if (advice.ring_bytes != 0 && is_tight) {
    const std::uint64_t safe = std::max(advice.safe_ring_bytes, advice.ring_bytes * 2);
    tell("a ring of {} was filled to {:.0f} %: {}{} would be safe\n",
         buffer_bytes(advice.ring_bytes),
         100.0 * static_cast<double>(advice.most_filled) / static_cast<double>(advice.ring_bytes),
         safe <= advice.most_ring_bytes ? "--ring-size " : "a target started with SJ_RING_BYTES=",
         buffer_bytes(safe));
  }
  if (advice.foreign_events != 0)
    tell("not recorded: {} of forked children: attach to them by their own pid as well\n",
         counted(advice.foreign_events, "event"));
  if (advice.under_way != 0)
    tell(
        "of the lost ones {} had begun and did not end, as their threads were stopped or had no "
        "processor\n",
        grouped(advice.under_way));
  if (advice.cut != 0)
    tell("the file of the target's rings was cut while it was read: what was in it is lost\n");
  if (advice.silences != 0)
    tell(
        "this process could not look into the rings for so long that the target took it for dead: "
        "{}, the points were off then, as `sojourn report --costs` shows\n",
        counted(advice.silences, "time"));
  if (advice.damaged != 0)
    tell(
        "{} of rings made no sense and were skipped: is something writing over the target's "
        "memory?\n",
        counted(advice.damaged, "span"));
  if (advice.lost_of_unknown_points != 0)
    tell("lost besides: {} of points that are not known\n",
         counted(advice.lost_of_unknown_points, "event"));
}

void tell_no_hits(const capture::Capture& capture) {
  for (const target::Process* process : capture.processes()) {
    if (!process->stopped()) continue;
    tell("no point was hit: process {} is stopped: resume it with `kill -CONT {}`\n",
         process->title(), process->pid());
    return;
  }
  tell("no point was hit: is there traffic?\n");
}

void tell_outcome(const Options& options, const capture::Capture& capture,
                  const capture::Outcome& outcome) {
  if (options.quiet) return;
  const std::chrono::nanoseconds span(outcome.capture.close_ns - outcome.capture.open_ns);
  tell("{}   {}   {} lost   ", seconds(span), counted(outcome.events, "event"),
       grouped(outcome.lost));
  if (outcome.path.empty())
    tell("no dump");
  else
    tell("{} {}", outcome.path, bytes(outcome.bytes));
  if (outcome.events > 0 && outcome.dumps == 0 && !options.flight.is_asked())
    tell(" ({:.1f} bytes an event)",
         static_cast<double>(outcome.bytes) / static_cast<double>(outcome.events));
  if (outcome.filtered != 0) tell("   {} filtered", grouped(outcome.filtered));
  if (outcome.other_events > 0) tell(", {} besides", counted(outcome.other_events, "event"));
  tell("   ended by {}\n", outcome.capture.ended_by);
  if (outcome.rings) tell_advice(*outcome.rings);
  if (outcome.events + outcome.other_events + outcome.lost + outcome.filtered == 0)
    tell_no_hits(capture);
  if (outcome.events != 0 && !outcome.never_hit.empty())
    tell("never hit: {}\n",
         capture::silent_words(outcome.never_hit, options.processes.maps.given()));
  if (!outcome.path.empty())
    tell("next: sojourn {} {}\n", options.automatic.wanted ? "threads" : "report", outcome.path);
}

Result<void> capture_until_end(const Options& options, capture::Capture& capture,
                               const base::Fd& interrupts) {
  const RunningTotals progress(options.quiet);
  const capture::Listener listener = {
      .progress = [&](const capture::Progress& now) { progress(now); },
      .say =
          [&](const std::string& line) {
            progress.clear();
            if (!options.quiet) tell("{}\n", line);
          },
  };
  auto ran = capture.run(interrupts.get(), listener);
  progress.clear();
  if (ran && !options.command.empty() && capture.points() == 0) {
    capture.abandon();
    return fail(
        "{} has executed no program with points that could be recorded{}", options.command.front(),
        options.processes.follow ? ", nor has what it started"
                                 : ": --follow records those that it starts as children as well");
  }
  auto outcome = capture.finish();  // what was captured is kept, however the run ended
  if (!ran) return ran;
  if (!outcome) return std::unexpected(std::move(outcome).error());
  tell_outcome(options, capture, *outcome);
  if (const std::size_t probes = capture.probes_left(); probes != 0 && !options.quiet)
    tell("the trace is complete; removing {} takes a while\n", counted(probes, "probe"));
  capture.detach();
  return {};
}

// Who may be asked for what takes rights, once the capture has none.
Result<std::optional<base::Attacher>> start_attacher(const Options& options,
                                                     const std::vector<capture::Subject>& subjects,
                                                     const capture::Options& how,
                                                     capture::RightsNeeded needed) {
  if (!capture::has_rights()) return std::nullopt;
  capture::Charge::Scope scope{
      .processes = {},
      .cgroup = how.cgroup,
      .with_children = how.follow || how.launches,
      .ring_directory = how.launches ? how.launch_directory : how.engines.rings.directory,
      .kernel_names = !options.perf.frequency.empty()};
  for (const capture::Subject& subject : subjects) scope.processes.push_back(subject.process.pid());
  needed.perf_uprobes = how.engines.bpf.mechanism.value_or(capture::best_mechanism()) ==
                        capture::Mechanism::kPerfUprobes;
  needed.to_become_writer = false;
  SJ_TRY(attacher, capture::start_attacher(std::move(scope), needed));
  return std::move(attacher);
}

struct Started {
  std::optional<base::Attacher> attacher;  // none where there are no rights to keep
  capture::Capture capture;
};

// With no more rights than it takes, and once everything is attached with none.
Result<Started> start_capture(const Options& options, std::vector<capture::Subject> subjects,
                              capture::Options how) {
  const capture::RightsNeeded needed{.perf_uprobes = true,
                                     .other_networks = options.context.families.contains("sockets"),
                                     .kernel_names = !options.perf.frequency.empty(),
                                     .to_become_writer = true};
  SJ_CHECK(capture::keep_rights(needed));
  SJ_TRY(attacher, start_attacher(options, subjects, how, needed));
  SJ_TRY(capture, capture::Capture::start(std::move(subjects), std::move(how)));
  if (const auto user = capture::FileOwner::of(options.output).refused_invoker;
      user && !options.quiet)
    tell("{} will be root's: user {}, who called sudo, may not write there\n", options.output,
         *user);
  SJ_CHECK(capture::give_up_rights());
  return Started{.attacher = std::move(attacher), .capture = std::move(capture)};
}

Result<void> record_processes(const Options& options, capture::Options how,
                              const base::Fd& interrupts) {
  SJ_CHECK(options.collector.apply());
  SJ_TRY(subjects, find_subjects(options.processes, options.selection, how));
  // Nobody expects rings in a program that was never prepared.
  if (options.processes.maps.given() && !how.engines.wanted && !how.cgroup && !how.follow &&
      std::ranges::all_of(subjects, [](const capture::Subject& subject) {
        return subject.points.ring_sites.empty();
      }))
    how.engines.wanted = model::Engine::kBpf;
  SJ_TRY(started, start_capture(options, std::move(subjects), std::move(how)));
  capture::Capture& capture = started.capture;
  capture.describe();
  tell_attached(options, capture);
  return capture_until_end(options, capture, interrupts);
}

Result<void> no_points_in_command(const Options& options) {
  Error error = no_points(options.command.front(), options.processes.maps);
  return fail("{}; if it starts a program that has some, add --follow", error.text());
}

Result<void> record_command(const Options& options, capture::Options how,
                            const base::Fd& interrupts) {
  const capture::RingOptions& rings = how.engines.rings;
  SJ_TRY(command,
         capture::Command::prepare(options.command, {.ring_bytes = rings.ring_bytes,
                                                     .memory_ceiling = rings.memory_ceiling}));
  SJ_CHECK(options.collector.apply());
  SJ_TRY(process, target::Process::open(command.pid()));
  const MapOptions& maps = options.processes.maps;
  SJ_TRY(found, maps.find_in_files(command.files()));
  tell_unusable(found.points);
  how.is_command = true;
  how.launches =
      !target::has_any(found.points) && (command.is_script() || options.processes.follow);
  if (!target::has_any(found.points) && !how.may_lack_points && !how.launches)
    return no_points_in_command(options);
  std::vector<target::Points> points;
  points.push_back(std::move(found.points));
  SJ_CHECK(options.selection.apply(points, how));
  const bool launches = how.launches;
  const bool wants_rings = how.engines.wanted != model::Engine::kBpf;
  (launches ? how.launch_directory : how.engines.rings.directory) = command.ring_directory();
  std::vector<capture::Subject> subjects;
  subjects.push_back({.process = std::move(process), .points = std::move(points.front())});
  SJ_TRY(started, start_capture(options, std::move(subjects), std::move(how)));
  capture::Capture& capture = started.capture;
  const bool arms = launches ? wants_rings : capture.coverage().ring_points != 0;
  if (auto released = command.release(arms); !released) {
    capture.abandon();
    return released;
  }
  if (auto running = target::Process::open(command.pid())) capture.has_begun(std::move(*running));
  if (launches)
    tell_launched(options, capture.coverage());
  else
    tell_attached(options, capture);
  SJ_CHECK(capture_until_end(options, capture, interrupts));
  for (const target::Process* running : capture.processes())
    if (running->alive() && !options.quiet)
      tell("{} is still running as process {}\n", options.command.front(), running->pid());
  return {};
}

// Kernels before 5.11 charge BPF maps to this limit; later ones do not look at it.
void lift_memlock_limit() {
  const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_MEMLOCK, &unlimited);
}

Result<void> record(Options& options) {
  SJ_CHECK(options.processes.maps.read());
  if (options.post_mortem.is_asked())
    return options.post_mortem.run(options.processes.pids, options.output, options.quiet);
  if (options.is_held()) {
    SJ_TRY(interrupts, catch_interrupts());
    return record_held({.processes = options.processes,
                        .selection = options.selection,
                        .output = options.output,
                        .duration = options.duration,
                        .is_snapshot = options.snapshot.is_asked(),
                        .is_quiet = options.quiet},
                       interrupts);
  }
  SJ_CHECK(options.automatic.fill_in({.processes = options.processes,
                                      .context = options.context,
                                      .perf = options.perf,
                                      .queues = options.queues,
                                      .duration = options.duration,
                                      .may_be_endless = options.flight.is_asked()},
                                     options.quiet));
  SJ_TRY(how, capture_options(options));
  how.follow = options.processes.follow;
  const MapOptions& maps = options.processes.maps;
  if (maps.given())
    how.find = [&maps](const target::Process& process) -> Result<target::Points> {
      SJ_TRY(found, maps.find(process));
      return std::move(found.points);
    };
  SJ_TRY(interrupts, catch_interrupts());
  lift_memlock_limit();
  return options.command.empty() ? record_processes(options, how, interrupts)
                                 : record_command(options, how, interrupts);
}

}  // namespace

Action define_record(CLI::App& app) {
  auto options = std::make_shared<Options>();
  options->processes.define(app);
  auto* command = app.add_option(
      "command", options->command,
      "A command to start and trace from its first instruction: -- CMD ARGS...; of a "
      "script what it executes");
  app.parse_complete_callback([command, options, &app] {
    if (options->post_mortem.is_asked())
      PostMortemOptions::check(app);
    else if (options->is_held())
      check_held_options(app, options->processes);
    else if (options->processes.given() != command->empty())
      refuse_usage(
          "give either a running process (-p PID, also several, or --cgroup PATH) or a command to "
          "start (-- CMD)");
    options->queues.wanted = app.count("--queues") != 0;
    check_queue_options(app, options->queues);
  });
  app.add_option("-o,--output", options->output, "The trace file to write")
      ->capture_default_str()
      ->check([](const std::string& path) {
        if (path.empty()) return "the trace file needs a name";
        return path == "-" ? "a trace goes to a file, not to a pipe: it is renamed once complete"
                           : "";
      });
  app.add_option(
         "--for", options->duration,
         "End after this long, e.g. 10s, 500ms, 2min; without it: Ctrl-C or the exit of the last "
         "target")
      ->check([](const std::string& text) {
        return parse_duration(text) ? "" : parse_duration(text).error().text();
      });
  app.add_option("--ring-size", options->ring_size,
                 "Of each ring, a power of two, e.g. 4M. By rings: a thread's; default: as the "
                 "target was started. By eBPF: a CPU's; default: 16M, less on many CPUs")
      ->check([](const std::string& text) {
        return parse_bytes(text) ? "" : parse_bytes(text).error().text();
      });
  app.add_option("--ring-memory", options->ring_memory,
                 "Of all threads' rings together, e.g. 256M; default: as the target was started")
      ->check([](const std::string& text) {
        return parse_bytes(text) ? "" : parse_bytes(text).error().text();
      });
  app.add_option("--poll", options->poll_ms,
                 "Milliseconds between two looks into the buffers; default: by rings 1, by eBPF 10")
      ->check(CLI::Range(0.1, 1000.0));
  const std::map<std::string, bool> losses = {{"newest", false}, {"oldest", true}};
  app.add_option("--loss", options->loses_oldest,
                 "What is lost where the trace is not written as fast as events come, by the disk "
                 "or for want of a processor: newest (what comes while rings are full) or oldest "
                 "(what has waited longest, of a million events). Rings that this process does not "
                 "come to look into in time lose the newest in either case")
      ->transform(CLI::CheckedTransformer(losses, CLI::ignore_case))
      ->option_text("newest|oldest [newest]");
  options->automatic.define(app);
  options->selection.define(app);
  const std::map<std::string, EngineWanted> engines = {
      {"auto", EngineWanted::kAuto}, {"bpf", EngineWanted::kBpf}, {"ring", EngineWanted::kRing}};
  app.add_option("--engine", options->engine,
                 "How events leave the target: ring (its threads write shared memory; no root "
                 "needed for a process of one's own), bpf (a trap at every hit), or auto: rings "
                 "where a point has them and eBPF for the others, for -- CMD eBPF where there are "
                 "rights for it")
      ->transform(CLI::CheckedTransformer(engines, CLI::ignore_case))
      ->option_text("auto|bpf|ring [auto]");
  const std::map<std::string, Attach> kinds = {
      {"auto", Attach::kAuto}, {"multi", Attach::kMulti}, {"perf", Attach::kPerf}};
  app.add_option("--attach", options->attach,
                 "How probes are placed: auto, multi (uprobe_multi link) or perf (perf uprobes, "
                 "for older kernels)")
      ->transform(CLI::CheckedTransformer(kinds, CLI::ignore_case))
      ->option_text("auto|multi|perf [auto]");
  add_context_options(app, options->context);
  add_perf_options(app, options->perf);
  options->flight.define(app);
  options->snapshot.define(app);
  options->post_mortem.define(app);
  define_queue_options(app, options->queues);
  options->collector.define(app);
  app.add_option(
         "--budget", options->budget_percent,
         "Keep what tracing takes under so many percent of the target's CPU: the dearest "
         "points are off while it is exceeded, and come back when the load falls; points of "
         "direction I and S always stay. The trace says when. Without a budget none is switched "
         "off: a point that takes more than 5 % is told")
      ->check(CLI::PositiveNumber)
      ->type_name("PERCENT");
  app.add_flag("-q,--quiet", options->quiet, "Say nothing but errors");
  app.footer(
      "A command that is started with -- CMD and outlives the capture is left running.\n\n"
      "Examples:\n"
      "  sojourn record -p $(pidof nr-softmodem) --for 10s -o run.sjt\n"
      "  sojourn record -p $(pidof unknown) --auto -o run.sjt\n"
      "  sojourn record -p $(pidof nr-cu),$(pidof nr-du) -o both.sjt\n"
      "  sojourn record --cgroup system.slice/gnb.service -o gnb.sjt\n"
      "  sojourn record -o start.sjt -- ./nr-softmodem -O gnb.conf\n"
      "  sojourn record --follow -o start.sjt -- ./start-all.sh\n"
      "  sojourn record -p $(pidof nr-softmodem) --snapshot -o now.sjt\n"
      "  sojourn record --post-mortem core -o crash.sjt\n\n"
      "The target is not stopped and not changed but for the probes, which are gone when this "
      "ends, however it ends.");
  return [options] { return record(*options); };
}

}  // namespace sojourn::cli
