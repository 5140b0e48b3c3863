#include "userspace/cli/live/record/auto_options.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "userspace/capture/api.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/units.h"
#include "userspace/tracee/cgroup.h"
#include "userspace/tracee/process.h"

namespace sojourn::cli {

namespace {

constexpr const char* kDuration = "5s";
constexpr const char* kFrequency = "199Hz";
constexpr const char* kFamilies = "sched,irq,sockets";
constexpr std::chrono::milliseconds kSyscallSample{100};

// The limit for recording system calls, as a share of the CPU time of the whole machine: every
// process pays for it.
constexpr double kMaxOfMachine = 0.05;

// True if the rate cannot be measured: then recording itself reports why.
bool can_afford_syscalls(const std::vector<pid_t>& pids, bool quiet) {
  const auto rate = capture::measure_syscalls(pids, kSyscallSample);
  if (!rate || rate->share() <= kMaxOfMachine) return true;
  if (!quiet)
    tell(
        "without system calls: this machine makes {} a second, and recording them would take "
        "{:.1f} "
        "% of it; --context {},syscalls records them nevertheless\n",
        grouped(static_cast<std::uint64_t>(std::llround(rate->all_a_second))), 100 * rate->share(),
        kFamilies);
  return false;
}

// False for a command that is not started yet, and for processes that come into a group later.
bool registers_queues(const std::vector<pid_t>& pids) {
  return std::ranges::any_of(pids, [](pid_t pid) {
    const auto process = tracee::Process::open(pid);
    if (!process) return false;
    const auto arenas = capture::find_arenas(*process);
    return arenas && !arenas->empty();
  });
}

Result<std::vector<pid_t>> all_of(const ProcessOptions& options) {
  std::vector<pid_t> pids = options.pids;
  if (options.cgroup.empty()) return pids;
  SJ_TRY(group, tracee::Cgroup::open(options.cgroup));
  SJ_TRY(members, group.processes());
  pids.insert(pids.end(), members.begin(), members.end());
  return pids;
}

}  // namespace

void AutoOptions::define(Arguments& arguments) {
  arguments.add_flag(
      "--auto", wanted,
      fmt::format(
          "For an unknown program, without points and without a map: its threads, who wakes whom, "
          "sockets, timers and hot functions. See them with `sojourn threads`. The same as "
          "--context {},syscalls --profile {} --queues --for {}; system calls only where that is "
          "cheap, queues only where there are any. Options given besides prevail",
          kFamilies, kFrequency, kDuration));
}

Result<void> AutoOptions::fill_in(const AutoParts& parts, bool quiet) const {
  if (!wanted) return {};
  for (const pid_t pid : parts.processes.pids) SJ_CHECK(tracee::Process::open(pid));
  SJ_TRY(pids, all_of(parts.processes));
  if (parts.context.families.empty()) {
    parts.context.families = kFamilies;
    if (can_afford_syscalls(pids, quiet)) parts.context.families += ",syscalls";
  }
  if (parts.perf.frequency.empty()) parts.perf.frequency = kFrequency;
  const bool may_have_queues = !parts.processes.given() || registers_queues(pids);
  parts.queues.wanted = parts.queues.wanted || may_have_queues;
  if (parts.duration.empty() && !parts.may_be_endless) parts.duration = kDuration;
  return {};
}

}  // namespace sojourn::cli
