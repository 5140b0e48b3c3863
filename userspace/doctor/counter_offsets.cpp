#include "userspace/doctor/counter_offsets.h"

#include <atomic>
#include <cmath>
#include <thread>

#include <sched.h>

#include "userspace/base/clock.h"
#include "userspace/capture/api.h"
#include "userspace/doctor/counter_exchange.h"

namespace sojourn::doctor {
namespace {

constexpr std::uint64_t kPairNs = 4'000'000;
constexpr std::uint64_t kPatienceNs = 50'000'000;  // until the other thread has its CPU
constexpr int kFewestTrips = 20;

bool pin(std::uint32_t cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  return sched_setaffinity(0, sizeof(one), &one) == 0;
}

// A tick's length, by the clock.
double tick_ns() {
  constexpr std::uint64_t kSpanNs = 10'000'000;
  const capture::CounterPair from = capture::read_counter_pair();
  while (base::monotonic_ns() < from.ns + kSpanNs) {
  }
  const capture::CounterPair to = capture::read_counter_pair();
  return static_cast<double>(to.ns - from.ns) / static_cast<double>(to.ticks - from.ticks);
}

// In ticks; the error is 0 where nobody answered in time.
CounterOffset measure(std::uint32_t cpu) {
  CounterExchange line;
  std::atomic<bool> is_there = false;
  std::jthread other([&] {
    if (!pin(cpu)) return;
    is_there = true;
    line.answer();
  });
  const std::uint64_t last = base::monotonic_ns() + kPatienceNs;
  while (!is_there && base::monotonic_ns() < last) std::this_thread::yield();
  CounterOffset found = {.cpu = cpu};
  if (is_there) {
    double shortest = INFINITY;
    const std::uint64_t end = base::monotonic_ns() + kPairNs;
    for (int trip = 0; trip < kFewestTrips || base::monotonic_ns() < end; ++trip) {
      if (base::monotonic_ns() > last + kPatienceNs) break;
      const CounterExchange::Trip one = line.ask();
      if (one.round_ticks >= shortest) continue;
      shortest = one.round_ticks;
      found.ns = one.offset_ticks;
      found.error_ns = shortest / 2;
    }
  }
  line.end();
  return found;
}

}  // namespace

CounterOffsets measure_counter_offsets() {
  CounterOffsets found;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0 || CPU_COUNT(&allowed) < 2) {
    found.why_not = "this process may use one CPU only";
    return found;
  }
  const double ns_per_tick = tick_ns();
  bool is_first = true;
  for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    if (is_first) {
      is_first = false;
      found.first_cpu = cpu;
      if (!pin(cpu)) found.why_not = "a thread cannot be kept on one CPU";
      if (!found.why_not.empty()) break;
      continue;
    }
    if (found.others.size() + found.silent + 1 == CounterOffsets::kMostCpus) break;
    CounterOffset one = measure(cpu);
    if (one.error_ns == 0) {
      ++found.silent;
      continue;
    }
    one.ns *= ns_per_tick;
    one.error_ns *= ns_per_tick;
    found.others.push_back(one);
  }
  sched_setaffinity(0, sizeof(allowed), &allowed);
  if (found.others.empty() && found.why_not.empty())
    found.why_not = "no other CPU answered in time";
  return found;
}

}  // namespace sojourn::doctor
