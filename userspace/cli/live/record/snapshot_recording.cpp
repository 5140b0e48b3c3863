#include "userspace/cli/live/record/snapshot_recording.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/ranges.h>

#include "analysis/base/shell_word.h"
#include "analysis/present/words/text_format.h"
#include "userspace/base/privileged_helper.h"
#include "userspace/capture/api.h"
#include "userspace/cli/command.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/units.h"
#include "userspace/tracee/points.h"

namespace sojourn::cli {

void SnapshotOption::define(Arguments& arguments) {
  arguments.add_flag("--snapshot", is_asked_,
                     "Attach to nothing. Write what the rings of a process hold now that records "
                     "by itself (started with SJ_RINGS=flight). The process goes on as before. "
                     "With several processes: what all of them held at one instant");
}

void check_snapshot_options(const Arguments& arguments, const ProcessOptions& processes,
                            const RecordSelection& selection) {
  const bool is_snapshot = arguments.count("--snapshot") != 0;
  const std::string_view asked = is_snapshot ? "--snapshot" : "--flight rings";
  constexpr std::array<std::string_view, 8> kMeant = {
      "--pid", "--points", "--where", "--output", "--quiet", "--flight", "--for", "--snapshot"};
  for (const Argument& option : arguments.all()) {
    const std::string name = option.name();
    const bool is_meant = std::ranges::find(kMeant, name) != kMeant.end() &&
                          (!is_snapshot || (name != "--flight" && name != "--for"));
    if (option.count() != 0 && !is_meant)
      refuse_usage(fmt::format(
          "{} is for a capture: {} reads rings that the target fills by itself", name, asked));
  }
  if (processes.pids.empty())
    refuse_usage(fmt::format("{} reads the rings of processes that run: give -p PID", asked));
  if (selection.asks_for(filter::Keyword::kCpu))
    refuse_usage("--where: rings do not know the CPU of their events");
  if (selection.asks_for(filter::Keyword::kTime))
    refuse_usage(
        fmt::format("--where: time counts from the open mark, which {} finds only when it reads: "
                    "give this condition to `sojourn report`",
                    asked));
}

void tell_orphaned_trace(const capture::OrphanedTrace& trace, const std::string& output) {
  const capture::OrphanedCounts& counts = trace.counts;
  const std::chrono::nanoseconds span(trace.capture.close_ns - trace.capture.open_ns);
  std::vector<std::string> whose;
  whose.reserve(trace.targets.size());
  for (const model::Target& target : trace.targets)
    whose.push_back(fmt::format("{}, pid {}", target.name, target.pid));
  tell("{}: {} held events, {} of them as flight recorders\n", fmt::join(whose, "; "),
       counted(counts.rings, "ring"), grouped(counts.flight_rings));
  tell("{} complete   {}   {} lost   {} {}{}   ended by {}\n", seconds(span),
       counted(counts.events, "event"), grouped(trace.lost), output, bytes(trace.bytes),
       trace.filtered != 0 ? fmt::format("   {} filtered", grouped(trace.filtered)) : "",
       trace.capture.ended_by);
  if (counts.overwritten_bytes != 0)
    tell(
        "older events are overwritten ({} of rings): a larger SJ_RING_BYTES in the target's "
        "environment keeps more of them\n",
        bytes(counts.overwritten_bytes));
}

void tell_what_is_unsure(const capture::OrphanedCounts& counts) {
  if (counts.absent_rings != 0)
    tell("not in it, or not whole: {}\n", counted(counts.absent_rings, "thread's ring"));
  if (counts.foreign_rings != 0)
    tell("not read: {} of forked processes: choose a process by -p\n",
         counted(counts.foreign_rings, "ring"));
  if (counts.taken_by_collectors != 0)
    tell("a collector was attached: the events that it had read are in its own trace\n");
  if (counts.damaged != 0)
    tell("{} of rings made no sense and were skipped\n", counted(counts.damaged, "span"));
  if (counts.unfinished != 0)
    tell("in the middle of a hit, which is missing: {}\n", counted(counts.unfinished, "thread"));
  if (!counts.knows_unfinished)
    tell(
        "one hit of each thread may be missing, which had just begun (a core file would show "
        "it)\n");
}

namespace {

void tell_written(const capture::SnapshotRings::Written& written, const std::string& output) {
  tell_orphaned_trace(written.trace, output);
  tell_what_is_unsure(written.trace.counts);
  if (!written.without_rings.empty())
    tell("not in it, as these points write no rings: {}\n", fmt::join(written.without_rings, ", "));
  tell("next: sojourn report {}\n", shell_word(output));
}

// The helper that keeps the rights when this process has given them up; none if it has none now.
Result<std::optional<base::PrivilegedHelper>> start_privileged_helper(
    const std::vector<capture::Subject>& subjects) {
  if (!capture::has_rights()) return std::nullopt;
  capture::HelperScope::Limits limits;
  for (const capture::Subject& subject : subjects)
    limits.processes.push_back(subject.process.pid());
  SJ_TRY(helper, capture::start_privileged_helper(std::move(limits), {}));
  return std::move(helper);
}

Result<capture::SnapshotRings> hold(std::vector<capture::Subject> subjects,
                                    const capture::Options& how) {
  const auto find = [select =
                         how.select](const tracee::Process& process) -> Result<tracee::Points> {
    SJ_TRY(points, tracee::find_points(process));
    return select ? select(std::move(points)) : std::move(points);
  };
  std::vector<capture::SnapshotSubject> held;
  held.reserve(subjects.size());
  for (capture::Subject& subject : subjects)
    held.push_back({.process = std::move(subject.process), .points = std::move(subject.points)});
  return capture::SnapshotRings::open(std::move(held), find, how.where);
}

}  // namespace

Result<void> record_snapshots(const SnapshotOptions& options, const base::Fd& interrupts) {
  std::optional<std::chrono::nanoseconds> duration;
  if (!options.duration.empty()) {
    SJ_TRY(span, parse_duration(options.duration));
    duration = span;
  }
  SJ_CHECK(capture::keep_rights({.to_become_writer = true}));
  capture::Options how;
  SJ_TRY(subjects, find_subjects(options.processes, options.selection, how));
  const auto helper = start_privileged_helper(subjects);
  if (!helper) return std::unexpected(helper.error());
  SJ_TRY(rings, hold(std::move(subjects), how));
  capture::WriterThread writer(capture::FileOwner::of(options.output));
  if (options.is_snapshot) {
    SJ_CHECK(capture::give_up_rights());
    SJ_TRY(written, rings.write(writer, options.output, "snapshot"));
    if (!options.is_quiet) tell_written(written, options.output);
    return {};
  }
  capture::FlightRings flight(std::move(rings), writer, options.output);
  SJ_CHECK(capture::give_up_rights());
  SJ_TRY(written, flight.run(interrupts.get(), duration, [&](const std::string& line) {
    if (!options.is_quiet) tell("{}\n", line);
  }));
  if (!options.is_quiet) tell_written(written, options.output);
  return {};
}

}  // namespace sojourn::cli
