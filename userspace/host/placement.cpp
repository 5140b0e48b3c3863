#include "userspace/host/placement.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>
#include <sys/resource.h>

namespace sojourn::host {

namespace {

constexpr int kRaised = -20;

std::vector<std::uint32_t> cpus_of(const cpu_set_t& set) {
  std::vector<std::uint32_t> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set))
      cpus.push_back(static_cast<std::uint32_t>(cpu));
  return cpus;
}

bool holds(const std::vector<std::uint32_t>& list, std::uint32_t cpu) {
  return std::ranges::find(list, cpu) != list.end();
}

}  // namespace

CpuChoice choose_cpus(const CpuLayout& layout, const std::vector<std::uint32_t>& allowed) {
  CpuChoice choice;
  if (allowed.empty()) return choice;
  choice.home = allowed.back();
  for (const std::uint32_t cpu : allowed)
    if (holds(layout.isolated, cpu)) choice.home = cpu;
  // The nearest CPU number on another core, because it is mostly in the same socket.
  const auto distance = [&](std::uint32_t cpu) {
    const auto far = cpu > choice.home ? cpu - choice.home : choice.home - cpu;
    return far + (layout.shares_core(choice.home, cpu) ? UINT32_MAX / 2 : 0) +
           (holds(layout.isolated, choice.home) && !holds(layout.isolated, cpu) ? 10'000U : 0U);
  };
  for (const std::uint32_t cpu : allowed) {
    if (cpu == choice.home) continue;
    if (!choice.partner || distance(cpu) < distance(*choice.partner)) choice.partner = cpu;
  }
  return choice;
}

bool Placement::pin(std::uint32_t cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (cpu >= CPU_SETSIZE) return false;
  CPU_SET(cpu, &set);
  return sched_setaffinity(0, sizeof(set), &set) == 0;
}

Placement::Placement(const CpuLayout& layout, bool raises) {
  CPU_ZERO(&before_);
  sched_getaffinity(0, sizeof(before_), &before_);
  allowed_ = cpus_of(before_);
  if (allowed_.empty()) allowed_ = {0};
  const CpuChoice choice = choose_cpus(layout, allowed_);
  home_ = choice.home;
  partner_ = choice.partner;
  partner_shares_core_ = partner_ && layout.shares_core(home_, *partner_);
  pin(home_);
  nice_before_ = getpriority(PRIO_PROCESS, 0);
  if (!raises) {
    priority_ = fmt::format("as it was (nice {})", nice_before_);
  } else if (setpriority(PRIO_PROCESS, 0, kRaised) == 0) {
    is_raised_ = true;
    priority_ = fmt::format("nice {}", kRaised);
  } else {
    priority_ = fmt::format("not raised: {}", std::generic_category().message(errno));
  }
}

Placement::~Placement() {
  sched_setaffinity(0, sizeof(before_), &before_);
  if (is_raised_) setpriority(PRIO_PROCESS, 0, nice_before_);
}

}  // namespace sojourn::host
