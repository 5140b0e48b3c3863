#include "userspace/capture/records/counter_offsets.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <span>
#include <system_error>
#include <thread>

#include <sched.h>

#include "userspace/base/clock.h"
#include "userspace/capture/records/counter_exchange.h"
#include "userspace/capture/records/ring_clock.h"

namespace sojourn::capture {
namespace {

constexpr int kFewestTrips = 20;
struct Patience {
  std::uint64_t pair_ns = 4'000'000;
  std::uint64_t answer_ns = 50'000'000;  // until the other thread has its CPU
  std::uint64_t all_ns = UINT64_MAX;     // CPUs whose turn would come later count as silent
  std::uint64_t tick_ns = 10'000'000;    // a tick's length is computed from readings this far apart
};

constexpr Patience kBriefly = {
    .pair_ns = 300'000, .answer_ns = 20'000'000, .all_ns = 100'000'000, .tick_ns = 2'000'000};

// Pins the calling thread to a CPU and gives it normal priority, whatever it has inherited.
bool settle_on(std::uint32_t cpu) {
  const sched_param none{};
  sched_setscheduler(0, SCHED_OTHER, &none);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  return sched_setaffinity(0, sizeof(one), &one) == 0;
}

// The memory that two measuring threads share. It outlives the asking thread, because the other
// thread cannot be joined: real-time threads may keep it from its CPU for ever.
struct Meeting {
  CounterExchange line;
  std::atomic<bool> is_there = false;
};

// Fills in ticks only. error_ticks is 0 if the CPU did not answer in time.
CounterOffset measure(std::uint32_t cpu, const Patience& patience) {
  const auto meeting = std::make_shared<Meeting>();
  std::thread([meeting, cpu] {
    if (!settle_on(cpu)) return;
    meeting->is_there = true;
    meeting->line.answer();
  }).detach();
  const std::uint64_t last = base::monotonic_ns() + patience.answer_ns;
  while (!meeting->is_there && base::monotonic_ns() < last) std::this_thread::yield();
  CounterOffset found = {.cpu = cpu};
  if (meeting->is_there) {
    double shortest = INFINITY;
    const std::uint64_t end = base::monotonic_ns() + patience.pair_ns;
    for (int trip = 0; trip < kFewestTrips || base::monotonic_ns() < end; ++trip) {
      if (base::monotonic_ns() > last + patience.answer_ns) break;
      const auto one = meeting->line.ask();
      if (!one) break;
      if (one->round_ticks >= shortest) continue;
      shortest = one->round_ticks;
      found.ticks = one->offset_ticks;
      found.error_ticks = shortest / 2;
    }
  }
  meeting->line.end();
  return found;
}

std::vector<std::uint32_t> cpus_of(const cpu_set_t& allowed) {
  std::vector<std::uint32_t> cpus;
  for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE && cpus.size() < CounterOffsets::kMostCpus; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  return cpus;
}

// Pins the calling thread to the first CPU.
void measure_all(const std::vector<std::uint32_t>& cpus, const Patience& patience,
                 CounterOffsets& found) {
  found.first_cpu = cpus.front();
  if (!settle_on(found.first_cpu)) {
    found.why_not = "a thread cannot be kept on one CPU";
    return;
  }
  const CounterPair from = read_counter_pair();
  for (const std::uint32_t cpu : std::span(cpus).subspan(1)) {
    const bool is_late = base::monotonic_ns() - from.ns > patience.all_ns;
    const CounterOffset one = is_late ? CounterOffset() : measure(cpu, patience);
    if (one.error_ticks == 0)
      ++found.silent;
    else
      found.others.push_back(one);
  }
  if (const std::uint64_t since = base::monotonic_ns() - from.ns; since < patience.tick_ns)
    std::this_thread::sleep_for(std::chrono::nanoseconds(patience.tick_ns - since));
  const CounterPair to = read_counter_pair();
  const double ns_per_tick =
      static_cast<double>(to.ns - from.ns) / static_cast<double>(to.ticks - from.ticks);
  for (CounterOffset& each : found.others) {
    each.ns = each.ticks * ns_per_tick;
    each.error_ns = each.error_ticks * ns_per_tick;
  }
  found.leave_out_disturbed();
  if (found.others.empty()) found.why_not = "no other CPU answered in time";
}

}  // namespace

void CounterOffsets::leave_out_disturbed() {
  silent += static_cast<std::uint32_t>(std::erase_if(
      others, [](const CounterOffset& each) { return each.error_ns > kMostErrorNs; }));
}

// Measures on a new thread, so that the calling thread keeps its CPU.
CounterOffsets measure_counter_offsets(CounterCare care) {
  CounterOffsets found;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0 || CPU_COUNT(&allowed) < 2) {
    found.why_not = "this process may use one CPU only";
    return found;
  }
  const Patience patience = care == CounterCare::kBrief ? kBriefly : Patience();
  const auto measure_or_say_why = [&] {
    try {
      measure_all(cpus_of(allowed), patience, found);
    } catch (const std::system_error&) {
      found = {.others = {}, .why_not = "no thread could be started"};
    }
  };
  try {
    std::jthread(measure_or_say_why).join();
  } catch (const std::system_error&) {
    found.why_not = "no thread could be started";
  }
  return found;
}

}  // namespace sojourn::capture
