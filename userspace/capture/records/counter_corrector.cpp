#include "userspace/capture/records/counter_corrector.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <sched.h>

namespace sojourn::capture {
namespace {

std::uint64_t up(double ns) {
  return static_cast<std::uint64_t>(std::ceil(ns));
}

}  // namespace

CounterCorrector::CounterCorrector(const CounterOffsets& offsets)
    : is_needed_(std::ranges::any_of(offsets.others, &CounterOffset::is_apart)) {
  double low_ns = 0;
  double high_ns = 0;
  double low_ticks = 0;
  double high_ticks = 0;
  for (const CounterOffset& each : offsets.others) {
    low_ns = std::min(low_ns, each.ns - each.error_ns);
    high_ns = std::max(high_ns, each.ns + each.error_ns);
    low_ticks = std::min(low_ticks, each.ticks - each.error_ticks);
    high_ticks = std::max(high_ticks, each.ticks + each.error_ticks);
  }
  if (!is_needed_) {
    any_.error_ns = up(std::max(high_ns, -low_ns));
    return;
  }
  any_ = {.ahead_ticks = std::llround((low_ticks + high_ticks) / 2),
          .error_ns = up((high_ns - low_ns) / 2),
          .is_known = false};
  by_cpu_[static_cast<std::int32_t>(offsets.first_cpu)] = {};
  for (const CounterOffset& each : offsets.others) {
    Correction& its = by_cpu_[static_cast<std::int32_t>(each.cpu)];
    its.ahead_ticks = each.is_apart() ? std::llround(each.ticks) : 0;
    its.error_ns = up(each.error_ns + (each.is_apart() ? 0 : std::abs(each.ns)));
    known_error_ns_ = std::max(known_error_ns_, its.error_ns);
  }
}

CounterCorrector::Correction CounterCorrector::of_cpu(std::int32_t cpu) const {
  const auto known = by_cpu_.find(cpu);
  return known == by_cpu_.end() ? any_ : known->second;
}

CounterPair CounterCorrector::corrected(CounterPair pair) const {
  if (!is_needed_) return pair;
  const Correction its = of_cpu(pair.cpu);
  pair.ticks -= static_cast<std::uint64_t>(its.ahead_ticks);
  pair.error_ns += its.error_ns;
  return pair;
}

std::uint64_t CounterCorrector::now() const {
  if (!is_needed_) return read_cycle_counter();
  constexpr int kAttempts = 4;
  std::uint64_t ticks = 0;
  int cpu = -1;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    cpu = sched_getcpu();
    ticks = read_cycle_counter();
    if (sched_getcpu() == cpu) break;
  }
  return ticks - static_cast<std::uint64_t>(of_cpu(cpu).ahead_ticks);
}

}  // namespace sojourn::capture
