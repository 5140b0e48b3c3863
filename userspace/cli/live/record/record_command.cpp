// `sojourn record`: attach to a process, or start a command, and write its trace.
#include <algorithm>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <sys/signalfd.h>

#include "userspace/base/fail_errno.h"
#include "userspace/base/fd.h"
#include "userspace/base/privileged_helper.h"
#include "userspace/capture/api.h"
#include "userspace/cli/live/live_commands.h"
#include "userspace/cli/live/record/record_messages.h"
#include "userspace/cli/live/record/record_options.h"
#include "userspace/cli/live/record/slow_step_notice.h"
#include "userspace/cli/live/record/starvation_guard.h"
#include "userspace/cli/live/record/text_output.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/units.h"
#include "userspace/host/profile_cache.h"
#include "userspace/tracee/point_selection.h"
#include "userspace/tracee/process.h"

namespace sojourn::cli {

namespace {

// Interrupts become readable on a descriptor, so that no code runs in a signal handler. Children
// start with the signals unblocked again.
Result<base::Fd> catch_interrupts() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);  // writing to a closed pipe is an error to report
  base::Fd fd(signalfd(-1, &signals, SFD_CLOEXEC));
  if (!fd) return fail_errno("watch for interrupts");
  return fd;
}

Result<void> capture_until_end(const RecordOptions& options, capture::Capture& capture,
                               const base::Fd& interrupts, const StarvationGuard& guard,
                               TextOutput& text) {
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
  guard.end_drain();
  progress.clear();
  if (ran && !options.command.empty() && capture.points() == 0) {
    capture.abandon();
    return fail(
        "{} has executed no program with points that could be recorded{}", options.command.front(),
        options.processes.follow ? ", nor has what it started"
                                 : ": --follow records those that it starts as children as well");
  }
  std::optional<WaitTeller> late(std::in_place,
                                 "what was captured to be written; the target's threads and "
                                 "others leave little of the CPUs, or the disk is slow",
                                 options.quiet);
  auto outcome = capture.finish();  // the trace is kept, however the run ended
  late.reset();
  if (!ran) return ran;
  if (!outcome) return std::unexpected(std::move(outcome).error());
  tell_outcome(options, capture, *outcome);
  if (const std::size_t probes = capture.probes_left(); probes != 0 && !options.quiet)
    tell("the trace is complete; removing {} takes a while\n", counted(probes, "probe"));
  capture.detach();
  return text.finish(outcome->events + outcome->other_events);
}

// The helper that keeps the rights when the capture has given them up.
Result<std::optional<base::PrivilegedHelper>> start_privileged_helper(
    const RecordOptions& options, const std::vector<capture::Subject>& subjects,
    const capture::Options& how, capture::RightsNeeded needed) {
  if (!capture::has_rights()) return std::nullopt;
  capture::HelperScope::Limits limits{
      .processes = {},
      .cgroup = how.cgroup,
      .with_children = how.follow || how.launches,
      .ring_directory = how.launches ? how.launch_directory : how.engines.rings.directory,
      .kernel_names = !options.perf.frequency.empty()};
  for (const capture::Subject& subject : subjects)
    limits.processes.push_back(subject.process.pid());
  needed.perf_uprobes = how.engines.bpf.mechanism.value_or(capture::best_mechanism()) ==
                        capture::Mechanism::kPerfUprobes;
  needed.to_become_writer = false;
  needed.real_time = false;
  SJ_TRY(helper, capture::start_privileged_helper(std::move(limits), needed));
  return std::move(helper);
}

Result<std::vector<capture::Subject>> find_told(const RecordOptions& options,
                                                capture::Options& how) {
  const SlowStepNotice step("looking for its points and functions", options.quiet);
  return find_subjects(options.processes, options.selection, how);
}

struct Started {
  std::optional<base::PrivilegedHelper> helper;  // none where there are no rights to keep
  capture::Capture capture;
};

// Attaches with the fewest rights possible, and gives up all of them after that.
Result<Started> start_capture(const RecordOptions& options, std::vector<capture::Subject> subjects,
                              capture::Options how, const StarvationGuard& guard) {
  const SlowStepNotice step("measuring what a hit costs, and attaching", options.quiet);
  const capture::RightsNeeded needed{.perf_uprobes = true,
                                     .other_networks = options.context.families.contains("sockets"),
                                     .kernel_names = !options.perf.frequency.empty(),
                                     .to_become_writer = true,
                                     .real_time = guard.takes_priority_to_drain()};
  SJ_CHECK(capture::keep_rights(needed));
  SJ_TRY(helper, start_privileged_helper(options, subjects, how, needed));
  SJ_TRY(capture, capture::Capture::start(std::move(subjects), std::move(how)));
  if (const auto user = capture::FileOwner::of(options.output).refused_invoker;
      user && !options.quiet && !options.sink)
    tell("{} will be root's: user {}, who called sudo, may not write there\n", options.output,
         *user);
  guard.begin_drain();
  SJ_CHECK(capture::give_up_rights());
  return Started{.helper = std::move(helper), .capture = std::move(capture)};
}

Result<void> record_processes(const RecordOptions& options, capture::Options how) {
  SJ_CHECK(options.collector.apply());
  const StarvationGuard guard(options.processes.pids, options.collector.is_default(),
                              options.quiet);
  SJ_TRY(subjects, find_told(options, how));
  // From here on there is something to undo. Before, an interrupt just ends this process.
  SJ_TRY(interrupts, catch_interrupts());
  // Missing rings are not reported for a program that was never prepared.
  if (options.processes.maps.given() && !how.engines.wanted && !how.cgroup && !how.follow &&
      std::ranges::all_of(subjects, [](const capture::Subject& subject) {
        return std::ranges::none_of(subject.points.ring_sites, &tracee::RingSite::is_wanted);
      }))
    how.engines.wanted = model::Engine::kBpf;
  if (!options.quiet) std::ranges::for_each(subjects, tell_switched_off);
  SJ_TRY(started, start_capture(options, std::move(subjects), std::move(how), guard));
  capture::Capture& capture = started.capture;
  capture.describe();
  tell_attached(options, capture);
  if (!options.quiet) {
    tell_streams(capture);
    tell_metrics(capture, options.metrics);
  }
  TextOutput text(capture.own_stream());
  return capture_until_end(options, capture, interrupts, guard, text);
}

Result<void> no_points_in_command(const RecordOptions& options) {
  Error error = no_points(options.command.front(), options.command.front(), options.processes.maps);
  return fail("{}; if it starts a program that has some, add --follow", error.text());
}

Result<void> record_command(const RecordOptions& options, capture::Options how) {
  SJ_TRY(interrupts, catch_interrupts());
  const capture::RingOptions& rings = how.engines.rings;
  SJ_TRY(command, capture::TargetCommand::prepare(
                      options.command,
                      {.ring_bytes = rings.ring_bytes, .memory_ceiling = rings.memory_ceiling}));
  SJ_CHECK(options.collector.apply());
  SJ_TRY(process, tracee::Process::open(command.pid()));
  const MapOptions& maps = options.processes.maps;
  SJ_TRY(found, maps.find_in_files(command.files()));
  tell_unusable(found.points);
  how.is_command = true;
  how.launches =
      !tracee::has_any(found.points) && (command.is_script() || options.processes.follow);
  if (!tracee::has_any(found.points) && !how.may_lack_points && !how.launches)
    return no_points_in_command(options);
  std::vector<tracee::Points> points;
  points.push_back(std::move(found.points));
  SJ_CHECK(options.selection.apply(points, how));
  const bool launches = how.launches;
  const bool wants_rings = how.engines.wanted != model::Engine::kBpf;
  (launches ? how.launch_directory : how.engines.rings.directory) = command.ring_directory();
  std::vector<capture::Subject> subjects;
  subjects.push_back({.process = std::move(process), .points = std::move(points.front())});
  const StarvationGuard guard({}, false, options.quiet);  // nobody knows yet what will run
  SJ_TRY(started, start_capture(options, std::move(subjects), std::move(how), guard));
  capture::Capture& capture = started.capture;
  const bool arms = launches ? wants_rings : capture.coverage().ring_points != 0;
  if (auto released = command.release(arms); !released) {
    capture.abandon();
    return released;
  }
  if (auto running = tracee::Process::open(command.pid())) capture.has_begun(std::move(*running));
  if (launches)
    tell_launched(options, capture.coverage());
  else
    tell_attached(options, capture);
  if (!options.quiet) {
    tell_streams(capture);
    tell_metrics(capture, options.metrics);
  }
  TextOutput text(capture.own_stream());
  SJ_CHECK(capture_until_end(options, capture, interrupts, guard, text));
  for (const tracee::Process* running : capture.processes())
    if (running->alive() && !options.quiet)
      tell("{} is still running as process {}\n", options.command.front(), running->pid());
  return {};
}

// Kernels before 5.11 charge BPF maps to this limit; later ones do not look at it.
void lift_memlock_limit() {
  const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_MEMLOCK, &unlimited);
}

}  // namespace

Result<void> run_record(RecordOptions& options) {
  SJ_CHECK(options.processes.maps.read());
  if (options.post_mortem.is_asked())
    return options.post_mortem.run(options.processes.pids, options.output, options.quiet);
  if (options.is_snapshot()) {
    SJ_TRY(interrupts, catch_interrupts());
    return record_snapshots({.processes = options.processes,
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
  // Measured before the capture, so that it disturbs nothing, and while this process has one
  // thread.
  const std::string machine = host::profile_for_trace("sojourn " SOJOURN_VERSION);
  SJ_TRY(how, options.for_capture());
  how.machine = machine;
  how.follow = options.processes.follow;
  const MapOptions& maps = options.processes.maps;
  if (maps.given())
    how.find = [&maps](const tracee::Process& process) -> Result<tracee::Points> {
      SJ_TRY(found, maps.find(process));
      return std::move(found.points);
    };
  lift_memlock_limit();
  return options.command.empty() ? record_processes(options, how) : record_command(options, how);
}

Action define_record(Arguments& arguments) {
  auto options = std::make_shared<RecordOptions>();
  options->define(arguments);
  return [options] { return run_record(*options); };
}

}  // namespace sojourn::cli
