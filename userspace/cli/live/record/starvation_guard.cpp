#include "userspace/cli/live/record/starvation_guard.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/ranges.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "userspace/cli/tell.h"
#include "userspace/cli/units.h"
#include "userspace/tracee/real_time.h"

namespace sojourn::cli {

namespace {

constexpr std::uint64_t kPeriodNs = 10'000'000;  // as often as rings are emptied
constexpr std::uint64_t kRuntimeNs = 1'000'000;
constexpr std::chrono::milliseconds kStarvationLook(100);
constexpr std::chrono::seconds kPatience(2);
constexpr std::size_t kMaxNamed = 3;
constexpr double kNextToAll = 0.9;  // of the CPUs' time

// Copied from linux/sched/types.h, which cannot be included together with the C library's sched.h.
struct SchedulingAttributes {
  std::uint32_t size = sizeof(SchedulingAttributes);
  std::uint32_t policy = 0;   // SCHED_OTHER
  std::uint64_t flags = 0x1;  // children begin with normal priority
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime_ns = 0;
  std::uint64_t deadline_ns = 0;
  std::uint64_t period_ns = 0;
};
static_assert(sizeof(SchedulingAttributes) == 48);

bool set_scheduling(const SchedulingAttributes& attributes) {
  return syscall(SYS_sched_setattr, 0, &attributes, 0) == 0;
}

bool take_priority() {
  SchedulingAttributes attributes;
  attributes.policy = 6;  // SCHED_DEADLINE
  attributes.runtime_ns = kRuntimeNs;
  attributes.deadline_ns = kPeriodNs;
  attributes.period_ns = kPeriodNs;
  return set_scheduling(attributes);
}

void give_priority_back(int nice) {
  SchedulingAttributes attributes;
  attributes.nice = nice;
  set_scheduling(attributes);
}

std::string names_of(const tracee::Starvation& found) {
  std::vector<std::string> names;
  for (const tracee::RealTimeThread& thread : found.threads)
    if (names.size() < kMaxNamed) names.push_back(thread.title());
  if (found.threads.size() > names.size())
    names.push_back(fmt::format("{} more", found.threads.size() - names.size()));
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

StarvationGuard::StarvationGuard(std::span<const pid_t> pids, bool may_take_priority, bool is_quiet)
    : nice_(getpriority(PRIO_PROCESS, 0)) {
  const auto found = tracee::find_starvation(pids, kStarvationLook);
  if (!found) return;
  const std::string risk = fmt::format(
      "the target's real-time threads can take {} of this tracer: {}, now {:.0f} % of {}",
      found->cpus == 1 ? "the only CPU" : fmt::format("all {} CPUs", found->cpus), names_of(*found),
      100 * found->share, found->cpus == 1 ? "it" : "them");
  if (!may_take_priority) {
    if (!is_quiet) tell("{}\n", risk);
    return;
  }
  const bool has_right = take_priority();
  const std::string why_not =
      errno == EPERM ? "that takes CAP_SYS_NICE" : std::generic_category().message(errno);
  if (has_right) takes_ = found->share < kNextToAll ? Takes::kToDrain : Takes::kAllTheTime;
  if (takes_ == Takes::kToDrain) give_priority_back(nice_);
  if (is_quiet) return;
  if (has_right)
    tell(
        "{}; it drains with SCHED_DEADLINE, {} % of a CPU at most "
        "(--collector-priority 5: without)\n",
        risk, 100 * kRuntimeNs / kPeriodNs);
  else
    tell(
        "{}; it will be slow and may lose events: --collector-priority rt:{} helps, or "
        "--collector-cpu with a CPU that they leave ({})\n",
        risk, std::min(found->threads.front().priority + 1, 99), why_not);
}

void StarvationGuard::begin_drain() const {
  if (takes_ == Takes::kToDrain) take_priority();
}

void StarvationGuard::end_drain() const {
  if (takes_ == Takes::kToDrain) give_priority_back(nice_);
}

WaitTeller::WaitTeller(std::string what, bool is_quiet) {
  if (is_quiet) return;
  thread_ = std::thread([this, what = std::move(what)] {
    std::unique_lock lock(mutex_);
    if (!over_.wait_for(lock, kPatience, [this] { return is_over_; }))
      tell("waiting for {}\n", what);
  });
}

WaitTeller::~WaitTeller() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  over_.notify_one();
  thread_.join();
}

}  // namespace sojourn::cli
