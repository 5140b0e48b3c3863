#include "userspace/cli/live/record/process_options.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include <fmt/core.h>
#include <unistd.h>

#include "userspace/capture/api.h"
#include "userspace/cli/checks.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/units.h"
#include "userspace/tracee/point_selection.h"
#include "userspace/tracee/points.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::cli {

namespace {

void tell_remarks(const coarse::FoundPoints& found) {
  for (const std::string& remark : found.remarks) tell("{}\n", remark);
}

class Finder {
 public:
  Finder(bool may_lack_points, const MapOptions& maps)
      : may_lack_points_(may_lack_points), maps_(maps) {}

  Result<void> add_named(pid_t pid) {
    if (!seen_.insert(pid).second) return {};
    SJ_TRY(process, tracee::Process::open(pid));
    tracee::CodeWatch code;
    code.has_more(process);
    SJ_TRY(found, maps_.find(process));
    tracee::Points& points = found.points;
    tell_remarks(found);
    // The files of a process that is ending cannot be opened any more, which shows nothing about
    // its points.
    if (!tracee::has_any(points) && !may_lack_points_) {
      auto error = process.explain(no_points("process " + process.title(), process.exe(), maps_));
      if (process.alive()) tell_unusable(points);
      return std::unexpected(std::move(error));
    }
    if (process.alive()) tell_unusable(points);
    add(std::move(process), std::move(points), std::move(code));
    return {};
  }

  // Adds the processes of a group, without kernel threads, processes that end meanwhile, and those
  // without points.
  Result<void> add_group(const tracee::Cgroup& cgroup) {
    SJ_TRY(pids, cgroup.processes());
    std::size_t found = 0;
    std::string why_not;
    for (const pid_t pid : pids) {
      if (pid == getpid()) continue;
      if (!seen_.insert(pid).second) {
        ++found;
        continue;
      }
      auto process = tracee::Process::open(pid);
      tracee::CodeWatch code;
      if (process) code.has_more(*process);
      auto found_points = process ? maps_.find(*process) : fail("{}", process.error().text());
      if (!found_points) {
        why_not = found_points.error().text();
        continue;
      }
      tracee::Points& points = found_points->points;
      if (!tracee::has_any(points) && !may_lack_points_) continue;
      tell_remarks(*found_points);
      tell_unusable(points);
      add(std::move(*process), std::move(points), std::move(code));
      ++found;
    }
    if (found == 0)
      return fail("of {} in the cgroup {} none has points{}{}", counted(pids.size(), "process"),
                  tracee::printable(cgroup.path()), why_not.empty() ? "" : "; ", why_not);
    return {};
  }

  Result<std::vector<capture::Subject>> select(const RecordSelection& selection,
                                               capture::Options& how) && {
    SJ_CHECK(selection.apply(points_, how));
    std::vector<capture::Subject> subjects;
    for (std::size_t i = 0; i < processes_.size(); ++i)
      if (tracee::has_any(points_[i]) || !how.others.empty())
        subjects.push_back({.process = std::move(processes_[i]),
                            .points = std::move(points_[i]),
                            .code = std::move(codes_[i])});
    return subjects;
  }

 private:
  void add(tracee::Process process, tracee::Points points, tracee::CodeWatch code) {
    processes_.push_back(std::move(process));
    points_.push_back(std::move(points));
    codes_.push_back(std::move(code));
  }

  bool may_lack_points_;
  const MapOptions& maps_;
  std::set<pid_t> seen_;
  std::vector<tracee::Process> processes_;
  std::vector<tracee::Points> points_;  // of each
  std::vector<tracee::CodeWatch> codes_;
};

}  // namespace

void tell_unusable(const tracee::Points& points) {
  for (const tracee::Unusable& unusable : points.unusable)
    tell("not traced: {}: {}\n", unusable.where, unusable.why);
}

void tell_switched_off(const capture::Subject& subject) {
  const auto control = capture::RingControl::open(subject.process, subject.points);
  if (!control) return;  // no rings, no switches
  const auto count = std::ranges::count(control->points(), false, &capture::PointSwitch::is_on);
  if (count == 0) return;
  tell("{} of process {} {} switched off: `sojourn ctl -p {} enable '*'` switches them on\n",
       counted(static_cast<std::uint64_t>(count), "point"), subject.process.title(),
       count == 1 ? "is" : "are", subject.process.pid());
}

Error no_points(const std::string& whom, const std::string& executable, const MapOptions& maps) {
  if (maps.given())
    return Error(fmt::format("{} has no points: none of the map's functions can be traced", whom));
  if (const std::string_view map = ready_map_for(executable); !map.empty())
    return Error(fmt::format(
        "{} has no points: --map {} is the ready map of this program; --auto records what its "
        "threads do",
        whom, map));
  return Error(fmt::format(
      "{} has no points: --auto records what its threads do, --map functions of it that a map says "
      "are points (docs/coarse-tracing.md); or build it with <sojourn/point.h> "
      "(docs/instrumenting.md)",
      whom));
}

void ProcessOptions::define(Arguments& arguments) {
  arguments
      .add_option("-p,--pid", pids,
                  "The running process to attach to. Several: -p 12 -p 34, or -p 12,34")
      .type_name("PID")
      .delimiter(',')
      .one_word_each()
      .check(check_process_id);
  arguments
      .add_option("--cgroup", cgroup,
                  "All processes of this control group and below, also those that join it during "
                  "the capture. A directory of the cgroup file system, or its path there, e.g. "
                  "system.slice/gnb.service")
      .type_name("PATH");
  arguments.add_flag("--follow", follow,
                     "Also record forked children: with rings from their first instruction on, "
                     "with eBPF some milliseconds later. The trace says from when");
  maps.define(arguments);
}

Result<std::vector<capture::Subject>> find_subjects(const ProcessOptions& options,
                                                    const RecordSelection& selection,
                                                    capture::Options& how) {
  Finder finder(how.may_lack_points, options.maps);
  for (const pid_t pid : options.pids) SJ_CHECK(finder.add_named(pid));
  if (!options.cgroup.empty()) {
    SJ_TRY(cgroup, tracee::Cgroup::open(options.cgroup));
    SJ_CHECK(finder.add_group(cgroup));
    how.cgroup = std::move(cgroup);
  }
  return std::move(finder).select(selection, how);
}

}  // namespace sojourn::cli
