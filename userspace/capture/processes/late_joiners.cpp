#include "userspace/capture/processes/late_joiners.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>
#include <unistd.h>

#include "userspace/base/clock.h"
#include "userspace/base/count_text.h"
#include "userspace/tracee/point_selection.h"

namespace sojourn::capture {

namespace {

constexpr std::uint64_t kJoinLookPeriodNs = 100'000'000;

// The period of examining a process that had nothing to record.
constexpr std::uint64_t kBystanderPeriodNs = 1'000'000'000;

// Reading a process's files takes milliseconds, in which no ring is emptied.
constexpr std::uint64_t kMaxJoinLookNs = 10'000'000;

// Attempts to attach to a new process, one a second.
constexpr unsigned kJoinTries = 5;

}  // namespace

LateJoiners::LateJoiners(const Options& options, TracedProcesses& processes,
                         ProcessRecorder& recorder, SourceSet& sources, CaptureRecord& record,
                         CaptureOutput& output, PointFinder& finder, ProcessNews& news)
    : options_(&options),
      processes_(&processes),
      recorder_(&recorder),
      sources_(&sources),
      record_(&record),
      output_(&output),
      finder_(&finder),
      news_(&news),
      cgroup_(options.cgroup) {}

Result<void> LateJoiners::tick(const Listener& listener) {
  const std::uint64_t now_ns = base::monotonic_ns();
  if (!cgroup_ || now_ns < next_look_ns_) return {};
  next_look_ns_ = now_ns + kJoinLookPeriodNs;
  return look_for_processes(listener);
}

LateJoiners::Bystanders::iterator LateJoiners::bystander(pid_t pid) {
  return std::ranges::find_if(bystanders_,
                              [&](const Bystander& one) { return one.process.pid() == pid; });
}

Result<void> LateJoiners::look_for_processes(const Listener& listener) {
  const std::uint64_t begin = base::monotonic_ns();
  const auto pids = cgroup_->processes();
  if (!pids) {  // its processes have ended, or are ending
    cgroup_.reset();
    return {};
  }
  std::erase_if(bystanders_, [](const Bystander& one) { return !one.process.alive(); });
  std::erase_if(refused_, [&](pid_t pid) { return !std::ranges::binary_search(*pids, pid); });
  for (const pid_t pid : *pids) {
    if (processes_->find(pid) != nullptr || pid == getpid() || refused_.contains(pid)) continue;
    auto known = bystander(pid);
    if (known == bystanders_.end()) {
      auto process = tracee::Process::open(pid);
      if (!process) {  // a kernel thread, or one without the rights to it
        refused_.insert(pid);
        continue;
      }
      bystanders_.push_back({.process = std::move(*process), .code = {}, .next_ns = 0});
      known = std::prev(bystanders_.end());
    }
    // The newer a process is, the sooner it may have loaded its program.
    if (begin < known->next_ns) continue;
    known->next_ns = begin + kBystanderPeriodNs;
    if (!known->code.has_more(known->process)) continue;
    const bool is_last_try = known->tries++ >= kJoinTries;
    SJ_TRY(admission,
           admit(known->process, {.from_ns = last_look_ns_, .is_last_try = is_last_try}, listener));
    if (admission == Admission::kJoined) bystanders_.erase(known);
    if (admission == Admission::kTryLater) known->code = {};
    if (base::monotonic_ns() - begin > kMaxJoinLookNs) {
      next_look_ns_ = 0;  // the others are looked at in the next round
      return {};
    }
  }
  last_look_ns_ = begin;
  return {};
}

Result<Admission> LateJoiners::admit(tracee::Process& process, Newcomer newcomer,
                                     const Listener& listener) {
  tracee::Points points;
  tracee::CodeWatch code;
  if (newcomer.points) {
    points = std::move(*newcomer.points);
  } else {
    code.has_more(process);
    auto found = finder_->find(process);
    if (!found) return Admission::kNothingToRecord;
    points = finder_->select(std::move(*found), listener);
  }
  if (!tracee::has_any(points) && options_->others.empty()) return Admission::kNothingToRecord;

  TracedProcess& joiner = processes_->add(
      {.process = std::move(process), .points = std::move(points), .code = std::move(code)});
  joiner.expect_rings(newcomer.parent != 0 && !newcomer.is_last_try);
  bool is_known_to_others = false;
  const auto since_ns = recorder_->begin(joiner, is_known_to_others);
  if (!since_ns) {
    joiner.phase = TracedProcess::Phase::kEnded;
    for (RingEngine* engine : sources_->rings()) (void)engine->forget(joiner.process);
    return refuse(process, joiner, is_known_to_others, newcomer, since_ns.error().text(), listener);
  }
  if (auto who = joiner.process.describe()) joiner.about = std::move(*who);
  joiner.about.parent = newcomer.parent;
  SJ_CHECK(processes_->tell_joined(joiner));
  note_beginning(joiner, newcomer.from_ns, *since_ns);
  processes_->tell_new_points(listener);
  output_->sink().push(joiner.about);
  tell_of(joiner, listener);
  return Admission::kJoined;
}

// A process that other sources refer to stays in the list to the end, marked as ended.
Admission LateJoiners::refuse(tracee::Process& process, const TracedProcess& joiner,
                              bool is_known_to_others, const Newcomer& newcomer,
                              const std::string& why, const Listener& listener) {
  const std::string title = joiner.process.title();
  const pid_t pid = joiner.process.pid();
  if (!is_known_to_others) {
    process = processes_->take_last();
    // For example, a program that has just begun has no rings yet.
    if (!newcomer.is_last_try || !process.alive()) return Admission::kTryLater;
  }
  refused_.insert(pid);
  listener.say(fmt::format("not recorded: process {}: {}", title, why));
  return Admission::kJoined;
}

// A followed child's rings were recorded before its fork was reported; its other points were not.
void LateJoiners::note_beginning(TracedProcess& process, std::uint64_t from_ns,
                                 std::uint64_t since_ns) {
  const pid_t pid = process.process.pid();
  const bool is_of_family = process.rings == TracedProcess::Rings::kFamily;
  std::set<model::PointId> late = recorder_->late_points(process, process.points);
  const bool has_beginning = is_of_family || late.size() < wanted_points(process.points).size();
  if (!options_->follow || process.about.parent == 0 || !has_beginning) {
    process.about.since_ns = since_ns;
    record_->note_unarmed(
        {.pid = pid, .point = model::kNoPoint, .from_ns = from_ns, .until_ns = since_ns});
    return;
  }
  if (is_of_family) {
    late.clear();
    for (const SourceEntry& one : sources_->entries())
      if (one.bpf != nullptr && one.process == &process)
        for (const tracee::Site& site : one.bpf->points().sites) late.insert(site.point);
  }
  for (const model::PointId point : late)
    record_->note_unarmed({.pid = pid, .point = point, .from_ns = from_ns, .until_ns = since_ns});
}

void LateJoiners::tell_of(const TracedProcess& process, const Listener& listener) {
  const std::string points = base::counted(wanted_points(process.points).size(), "point");
  const std::string title = process.process.title();
  const bool has_bpf = std::ranges::any_of(sources_->entries(), [&](const SourceEntry& one) {
    return one.bpf != nullptr && one.process == &process;
  });
  const bool is_whole = process.about.parent != 0 && process.about.since_ns == 0 && !has_bpf &&
                        (process.rings == TracedProcess::Rings::kFamily ||
                         recorder_->late_points(process, process.points).empty());
  if (!is_whole && !process.process.alive())
    return news_->say_brief(listener, process.process.pid());
  const std::string_view from = process.about.parent == 0 ? "came" : "was forked";
  const std::string_view since = is_whole ? "from its first instruction on"
                                 : process.about.parent != 0 && process.about.since_ns == 0
                                     ? "from now on, by rings since the fork"
                                     : "from now on";
  news_->say(listener, fmt::format("process {} {}: {} recorded {}", title, from, points, since));
}

}  // namespace sojourn::capture
