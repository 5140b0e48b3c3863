#include "tests/basestation/neighbour.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fmt/core.h>
#include <sched.h>
#include <unistd.h>

namespace sojourn::basestation {
namespace {

void stay_on(int cpu) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(static_cast<std::size_t>(cpu), &only);
  // If the CPU went offline meanwhile, this fails, and the thread runs anywhere.
  sched_setaffinity(0, sizeof only, &only);
}

bool take_precedence() {
  const sched_param lowest_of_real_time{.sched_priority = 1};
  if (sched_setscheduler(0, SCHED_FIFO, &lowest_of_real_time) == 0) return true;
  fmt::print(stderr, "sj-basestation: SCHED_FIFO: {}: the neighbour competes as an equal\n",
             std::generic_category().message(errno));
  return false;
}

}  // namespace

void Neighbour::pin_victim() {
  cpu_ = std::max(sched_getcpu(), 0);
  victim_tid_ = static_cast<std::uint32_t>(gettid());
  stay_on(cpu_);
}

void Neighbour::run() {
  const auto working = [this] { return context_.flags.working.load(std::memory_order_relaxed); };
  stay_on(cpu_);
  const bool has_precedence = take_precedence();
  std::uint64_t due_ns = now_ns() + preempt_.period_ns;
  while (working()) {
    const std::uint64_t now = now_ns();
    if (now < due_ns) {
      sleep_until_ns(std::min(due_ns, now + 100 * kMillisecond));
      continue;
    }
    std::uint64_t end_ns = now;
    while (end_ns < now + preempt_.spin_ns && working()) end_ns = now_ns();
    context_.log.preempted({.victim_tid = victim_tid_,
                            .tid = 0,
                            .cpu = static_cast<std::uint32_t>(cpu_.load()),
                            .has_precedence = has_precedence,
                            .begin_ns = now,
                            .end_ns = end_ns});
    due_ns = std::max(due_ns + preempt_.period_ns, end_ns);
  }
}

}  // namespace sojourn::basestation
