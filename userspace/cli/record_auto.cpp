#include "userspace/cli/record_auto.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "userspace/capture/context/syscall_rate.h"
#include "userspace/capture/rings/arena.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/units.h"
#include "userspace/target/process.h"

namespace sojourn::cli {

namespace {

constexpr const char* kDuration = "5s";
constexpr const char* kFrequency = "199Hz";
constexpr const char* kFamilies = "sched,irq,sockets";
constexpr std::chrono::milliseconds kLook{100};

// Every process of the machine pays for its system calls, so that is what they may take of all of
// its processors' time.
constexpr double kMostOfMachine = 0.05;

// What cannot be measured is left to those who record it: they will say why.
bool can_afford_syscalls(const ProcessOptions& processes, bool quiet) {
  const auto rate = capture::measure_syscalls(processes.pids, kLook);
  if (!rate || rate->share() <= kMostOfMachine) return true;
  if (!quiet)
    tell(
        "without system calls: this machine makes {} a second, and recording them would take "
        "{:.1f} "
        "% of it; --context {},syscalls records them nevertheless\n",
        grouped(static_cast<std::uint64_t>(std::llround(rate->all_a_second))), 100 * rate->share(),
        kFamilies);
  return false;
}

bool registers_queues(const ProcessOptions& processes) {
  return std::ranges::any_of(processes.pids, [](pid_t pid) {
    const auto process = target::Process::open(pid);
    if (!process) return false;
    const auto arenas = capture::find_arenas(*process);
    return arenas && !arenas->empty();
  });
}

}  // namespace

void AutoOptions::define(CLI::App& app) {
  app.add_flag(
      "--auto", wanted,
      fmt::format("Find out what an unknown program does, without points and without a map: its "
                  "threads, who wakes whom, sockets, timers, hot functions, for `sojourn threads`. "
                  "The same as --context {},syscalls --profile {} --queues --for {}, where system "
                  "calls are affordable and there are queues; what is given besides stays as it "
                  "is",
                  kFamilies, kFrequency, kDuration));
}

Result<void> AutoOptions::fill_in(const AutoParts& parts, bool quiet) const {
  if (!wanted) return {};
  for (const pid_t pid : parts.processes.pids) SJ_CHECK(target::Process::open(pid));
  if (parts.context.families.empty()) {
    parts.context.families = kFamilies;
    if (can_afford_syscalls(parts.processes, quiet)) parts.context.families += ",syscalls";
  }
  if (parts.perf.frequency.empty()) parts.perf.frequency = kFrequency;
  if (!parts.queues.wanted) parts.queues.wanted = registers_queues(parts.processes);
  if (parts.duration.empty() && !parts.may_be_endless) parts.duration = kDuration;
  return {};
}

}  // namespace sojourn::cli
