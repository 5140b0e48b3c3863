#include "userspace/cli/live/record/record_messages.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <unistd.h>

#include "analysis/base/shell_word.h"
#include "analysis/present/words/text_format.h"
#include "userspace/capture/api.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/units.h"
#include "userspace/tracee/process.h"

namespace sojourn::cli {

namespace {

void tell_looks(const capture::Coverage& coverage) {
  if (!coverage.why_only_looks.empty())
    tell("forked children are looked for in /proc, and brief ones may be missed: {}\n",
         coverage.why_only_looks);
}

std::size_t found_points(const capture::Coverage& coverage) {
  return coverage.ring_points + coverage.bpf_points + coverage.uncovered_points;
}

// Warns that conditions on `cpu` do not apply to events of rings. Nothing else would show why no
// event is left out, or why a trigger never fires.
void tell_of_cpu(const RecordOptions& options) {
  if (options.selection.asks_for(filter::Keyword::kCpu))
    tell(
        "--where: rings do not know the CPU of their events: conditions on cpu leave none of them "
        "out\n");
  if (options.flight.asks_for(filter::Keyword::kCpu))
    tell(
        "--trigger: rings do not know the CPU of their events: conditions on cpu never hold for "
        "them\n");
}

}  // namespace

void tell_launched(const RecordOptions& options, const capture::Coverage& coverage) {
  if (options.quiet) return;
  tell("{} has no points: what it executes is recorded{}\n", options.command.front(),
       options.processes.follow ? ", and what it starts" : "");
  if (options.processes.follow) tell_looks(coverage);
}

void tell_attached(const RecordOptions& options, const capture::Capture& capture) {
  if (options.quiet) return;
  using Milliseconds = std::chrono::duration<double, std::milli>;
  const capture::Coverage& coverage = capture.coverage();
  const std::size_t attached = coverage.ring_points + coverage.bpf_points;
  if (found_points(coverage) == 0) {
    tell("no points: only {} recorded\n", coverage.has_context              ? "its context is"
                                          : options.queues.wanted           ? "its queues are"
                                          : !options.perf.frequency.empty() ? "its profile is"
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
  if (coverage.ring_points != 0) tell_of_cpu(options);
  if (!coverage.why_not_rings.empty()) tell("not by rings: {}\n", coverage.why_not_rings);
  if (coverage.has_unsteady_times)
    tell(
        "times will be wrong: the cycle counter, which rings are stamped with, does not tick "
        "steadily on this machine: --engine bpf needs none\n");
  if (!coverage.why_no_costs.empty())
    tell("the cost of tracing is not known: {}\n", coverage.why_no_costs);
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

void RunningTotals::operator()(const capture::Progress& progress) const {
  if (terminal_)
    tell("\r\033[K{}  {} events  {} lost  {}", seconds(progress.elapsed), grouped(progress.events),
         grouped(progress.lost), bytes(progress.bytes));
}

void RunningTotals::clear() const {
  if (terminal_) tell("\r\033[K");
}

namespace {

std::uint64_t machine_memory() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// Advice about sizes is useless for threads that get no ring for lack of memory.
std::string safe_rings(const RecordOptions& options, const capture::RingAdvice& advice) {
  const std::uint64_t each = std::max(advice.safe_ring_bytes, advice.ring_bytes * 2);
  const std::uint64_t all = each * std::max<std::uint64_t>(advice.rings, 1);
  if (all > machine_memory() / 2)
    return "no size would be safe that fits into memory: let this process run earlier "
           "(--collector-cpu, --collector-priority), or record fewer points (--points)";
  // A command is started with the size of the option.
  const bool is_by_option = each <= advice.max_ring_bytes || !options.command.empty();
  std::string sizes =
      (is_by_option ? "--ring-size " : "a target started with SJ_RING_BYTES=") + buffer_bytes(each);
  if (all > advice.memory_ceiling)
    sizes += (is_by_option ? " --ring-memory " : " SJ_RING_MEMORY=") + buffer_bytes(all);
  return sizes + " would be safe";
}

// Reports rings that were too small, damaged, cut or not recorded.
void tell_advice(const RecordOptions& options, const capture::RingAdvice& advice) {
  const bool is_tight = advice.most_filled * 2 > advice.ring_bytes;
  if (advice.ring_bytes != 0 && is_tight)
    tell("a ring of {} was filled to {:.0f} %, as it was not read for up to {:.1f} ms: {}\n",
         buffer_bytes(advice.ring_bytes),
         100.0 * static_cast<double>(advice.most_filled) / static_cast<double>(advice.ring_bytes),
         static_cast<double>(advice.longest_unseen_ns) / 1e6, safe_rings(options, advice));
  if (advice.foreign_events != 0)
    tell("not recorded: {} of forked children: attach to them by their own pid as well\n",
         counted(advice.foreign_events, "event"));
  if (advice.under_way != 0)
    tell(
        "{} of the lost events had begun and did not end: their threads were stopped or had no "
        "processor\n",
        grouped(advice.under_way));
  if (advice.cut != 0)
    tell("the file of the target's rings was cut while it was read: its contents are lost\n");
  if (advice.silences != 0)
    tell(
        "the target took this process for dead {}, because it did not read the rings in time: the "
        "points were off then, as `sojourn report --costs` shows\n",
        counted(advice.silences, "time"));
  for (const std::string& why : advice.left_out)
    tell("not recorded: a library that came later: {}\n", why);
  if (advice.damaged != 0)
    tell(
        "{} of rings made no sense and were skipped: is something writing over the target's "
        "memory?\n",
        counted(advice.damaged, "span"));
  if (advice.lost_of_unknown_points != 0)
    tell("lost besides: {} of points that are not known\n",
         counted(advice.lost_of_unknown_points, "event"));
}

// Reports that CPUs' cycle counters disagree, and what that means for the stamps of rings.
void tell_counters(const model::Capture& about) {
  if (!about.counters_corrected) return;
  std::string cpus;
  for (const model::CounterOffset& each : about.counter_offsets)
    if (static_cast<std::uint64_t>(std::abs(each.ahead_ns)) > each.error_ns)
      cpus += fmt::format("{}CPU {}'s by {}{}", cpus.empty() ? "" : ", ", each.cpu,
                          each.ahead_ns < 0 ? "-" : "+",
                          present::duration(static_cast<double>(std::abs(each.ahead_ns))));
  tell(
      "cycle counters disagree ({}): stamps of rings are corrected{}\n", cpus,
      about.events_of_unknown_cpu == 0
          ? ""
          : fmt::format("; of {} it is not known which CPU they are of, so stamps may be off by {}",
                        counted(about.events_of_unknown_cpu, "event"),
                        present::duration(static_cast<double>(about.stamp_error_ns))));
}

void tell_no_hits(const capture::Capture& capture, const capture::Outcome& outcome) {
  for (const tracee::Process* process : capture.processes()) {
    if (!process->stopped()) continue;
    tell("nothing happened: process {} is stopped: resume it with `kill -CONT {}`\n",
         process->title(), process->pid());
    return;
  }
  if (outcome.capture.ended_by == "target exit")
    tell("nothing of it was seen before it ended\n");
  else if (found_points(capture.coverage()) == 0)
    tell("nothing happened: no thread of it did anything\n");
  else if (outcome.switched != 0)
    tell("no point was hit: {} {} switched off\n", counted(outcome.switched, "point"),
         outcome.switched == 1 ? "was" : "were");
  else
    tell("no point was hit: is there traffic?\n");
}

}  // namespace

void tell_outcome(const RecordOptions& options, const capture::Capture& capture,
                  const capture::Outcome& outcome) {
  if (options.quiet) return;
  // If there is a sink, the program that takes the trace reports the rest.
  if (options.sink) return tell_monitored(outcome);
  const std::chrono::nanoseconds span(outcome.capture.close_ns - outcome.capture.open_ns);
  // A dump has the last of the events only, and its own line says how many.
  tell("{}   {}{}   {} lost   ", seconds(span), counted(outcome.events, "event"),
       options.flight.is_asked() ? " passed" : "", grouped(outcome.lost));
  if (outcome.path.empty())
    tell("no dump");
  else if (options.flight.is_asked())
    tell("last dump: {} {}", outcome.path, bytes(outcome.bytes));
  else
    tell("{} {}", outcome.path, bytes(outcome.bytes));
  const std::uint64_t written = outcome.events + outcome.other_events;
  if (written > 0 && outcome.dumps == 0 && !options.flight.is_asked())
    tell(" ({:.1f} bytes an event)",
         static_cast<double>(outcome.bytes) / static_cast<double>(written));
  if (outcome.filtered != 0) tell("   {} filtered", grouped(outcome.filtered));
  if (outcome.other_events > 0) tell(", {} besides", counted(outcome.other_events, "event"));
  tell("   ended by {}\n", outcome.capture.ended_by);
  tell_streamed(outcome);
  tell_monitored(outcome);
  tell_counters(outcome.capture);
  if (outcome.rings) tell_advice(options, *outcome.rings);
  if (outcome.events + outcome.other_events + outcome.lost + outcome.filtered == 0)
    tell_no_hits(capture, outcome);
  if (outcome.events != 0 && !outcome.never_hit.empty())
    tell("never hit: {}\n",
         capture::silent_points_text(outcome.never_hit, options.processes.maps.given()));
  if (outcome.path.empty()) return;
  // Without rights to eBPF nothing shows what threads did; the report says what there is.
  const bool has_threads = options.automatic.wanted && capture.coverage().has_thread_states;
  tell("next: sojourn {} {}\n", has_threads ? "threads" : "report", shell_word(outcome.path));
  if (options.queues.wanted && !options.automatic.wanted)
    tell("next: sojourn queues {}\n", shell_word(outcome.path));
}

}  // namespace sojourn::cli
