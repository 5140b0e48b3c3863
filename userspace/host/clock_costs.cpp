// The length of a cycle, the counter's frequency, and the cost of reading each clock.
#include <array>
#include <cmath>
#include <ctime>
#include <vector>

#include <fmt/format.h>

#include "userspace/capture/api.h"
#include "userspace/host/bpf_clock.h"
#include "userspace/host/subjects.h"

namespace sojourn::host {

namespace {

constexpr double kChain = 100;

// Each instruction needs the result of the one before it, and none can be left out. No known
// processor executes a NOT in less than a cycle.
void dependent_cycles(std::uint64_t times) {
  std::uint64_t value = times;
  for (std::uint64_t turn = 0; turn < times; ++turn) {
#if defined(__x86_64__)
    asm volatile(".rept 100\n\tnot %0\n\t.endr" : "+r"(value));
#elif defined(__aarch64__)
    asm volatile(".rept 100\n\tmvn %0, %0\n\t.endr" : "+r"(value));
#endif
  }
}

void empty_loop(std::uint64_t times) {
  for (std::uint64_t turn = 0; turn < times; ++turn) keep(turn);
}

void read_counter(std::uint64_t times) {
  for (std::uint64_t turn = 0; turn < times; ++turn) {
    std::uint64_t ticks = capture::read_cycle_counter();
    keep(ticks);
    keep(turn);
  }
}

#if defined(__x86_64__)
void read_rdtscp(std::uint64_t times) {
  for (std::uint64_t turn = 0; turn < times; ++turn) {
    std::uint32_t low = 0;
    // The third value would be the CPU's number. It is not used, because hypervisors may not set
    // it.
    asm volatile("rdtscp" : "=a"(low) : : "rdx", "rcx", "memory");
    keep(low);
    keep(turn);
  }
}
#endif

struct ClockName {
  clockid_t clock;
  const char* id;
  const char* name;
};

constexpr std::array kClocks = {
    ClockName{CLOCK_MONOTONIC, "clocks.monotonic", "CLOCK_MONOTONIC"},
    ClockName{CLOCK_MONOTONIC_RAW, "clocks.monotonic_raw", "CLOCK_MONOTONIC_RAW"},
    ClockName{CLOCK_MONOTONIC_COARSE, "clocks.monotonic_coarse", "CLOCK_MONOTONIC_COARSE"},
    ClockName{CLOCK_REALTIME, "clocks.realtime", "CLOCK_REALTIME"},
    ClockName{CLOCK_REALTIME_COARSE, "clocks.realtime_coarse", "CLOCK_REALTIME_COARSE"},
    ClockName{CLOCK_BOOTTIME, "clocks.boottime", "CLOCK_BOOTTIME"},
    ClockName{CLOCK_TAI, "clocks.tai", "CLOCK_TAI"},
    ClockName{CLOCK_PROCESS_CPUTIME_ID, "clocks.process_cpu", "CLOCK_PROCESS_CPUTIME_ID"},
    ClockName{CLOCK_THREAD_CPUTIME_ID, "clocks.thread_cpu", "CLOCK_THREAD_CPUTIME_ID"},
};

// Ticks a second, from the span between two readings of both clocks that were each taken close
// together.
double counter_frequency(std::uint64_t span_ns) {
  const capture::CounterPair first = capture::read_counter_pair();
  while (base::monotonic_ns() < first.ns + span_ns) {
  }
  const capture::CounterPair second = capture::read_counter_pair();
  return static_cast<double>(second.ticks - first.ticks) * 1e9 /
         static_cast<double>(second.ns - first.ns);
}

void measure_frequency(Bench& bench) {
  const bool is_brief = bench.form() == Form::kBrief;
  const std::uint64_t span_ns = bench.is_full() ? 20'000'000 : 2'000'000;
  std::vector<double> samples;
  for (int sample = 0; sample < (is_brief ? 8 : 16); ++sample)
    samples.push_back(counter_frequency(span_ns));
  Measurement& all = bench.add({"clocks.frequency", "counter frequency",
                                "ticks between two readings of counter and CLOCK_MONOTONIC"},
                               std::move(samples), Unit::kHertz);
  all.is_less_better = false;
  if (is_brief) return;
  const double home = all.measured.median;
  double furthest = 0;
  std::size_t seen = 0;
  constexpr std::size_t kMostCpus = 64;
  for (const std::uint32_t cpu : bench.placement().allowed()) {
    if (seen == kMostCpus || !Placement::pin(cpu)) continue;
    ++seen;
    furthest = std::max(furthest, std::abs(counter_frequency(4 * span_ns) / home - 1));
  }
  bench.placement().go_home();
  bench.profile().measurements.back().note =
      fmt::format("on {} CPUs it differs by {:.1f} ppm at most", seen, furthest * 1e6);
}

void measure_rdtscp(Bench& bench, double loop_ns) {
  const Row row = {"clocks.rdtscp", "rdtscp", "back to back; what it says of the CPU is not used"};
#if defined(__x86_64__)
  if (!bench.cpuid().has_rdtscp())
    return bench.leave_out(row, "CPUID says that this processor does not have it");
  bench.measure(row, read_rdtscp, {.subtract_ns = loop_ns});
#else
  (void)loop_ns;
  bench.leave_out(row, "only x86 has it");
#endif
}

}  // namespace

double loop_cost_ns(const Bench& bench) {
  if (const double measured = bench.before("clocks.loop"); measured > 0) return measured;
  constexpr std::uint64_t kTurns = 100'000;
  double shortest = INFINITY;
  for (int attempt = 0; attempt < 16; ++attempt) {
    const std::uint64_t before = base::monotonic_ns();
    empty_loop(kTurns);
    shortest = std::min(shortest, static_cast<double>(base::monotonic_ns() - before) / kTurns);
  }
  return shortest;
}

double counter_tick_ns(const Bench& bench) {
  const double hertz = bench.before("clocks.frequency");
  return 1e9 / (hertz > 0 ? hertz : counter_frequency(10'000'000));
}

double measure_cycle_ns(std::uint64_t cycles) {
  const std::uint64_t before = base::monotonic_ns();
  dependent_cycles(cycles / static_cast<std::uint64_t>(kChain));
  return static_cast<double>(base::monotonic_ns() - before) / static_cast<double>(cycles);
}

void measure_clocks(Bench& bench) {
  dependent_cycles(200'000);  // wakes the frequency up
  Measurement& cycle =
      bench.measure({"clocks.cycle", "cycle", "100 instructions that each need the one before"},
                    dependent_cycles, {.divide_by = kChain});
  const double cycle_ns = cycle.measured.median;
  if (cycle_ns > 0)
    cycle.note = cycle.note.empty()
                     ? fmt::format("the core runs at {:.0f} MHz", 1000 / cycle_ns)
                     : fmt::format("the core runs at {:.0f} MHz; {}", 1000 / cycle_ns, cycle.note);
  bench.measure({"clocks.loop", "loop", "an empty loop"}, empty_loop);
  const double loop_ns = bench.before("clocks.loop");
  measure_frequency(bench);
  bench.measure({"clocks.rdtsc", "cycle counter", "back to back, the loop subtracted"},
                read_counter, {.subtract_ns = loop_ns});
  if (bench.form() == Form::kBrief) {
    timespec now{};
    bench.measure({"clocks.monotonic", "CLOCK_MONOTONIC", "back to back, the loop subtracted"},
                  [&](std::uint64_t times) {
                    for (std::uint64_t turn = 0; turn < times; ++turn)
                      clock_gettime(CLOCK_MONOTONIC, &now);
                  },
                  {.subtract_ns = loop_ns});
    return;
  }
  measure_rdtscp(bench, loop_ns);
  for (const ClockName& one : kClocks) {
    timespec now{};
    bench.measure({one.id, one.name, "back to back, the loop subtracted"},
                  [&](std::uint64_t times) {
                    for (std::uint64_t turn = 0; turn < times; ++turn)
                      clock_gettime(one.clock, &now);
                  },
                  {.subtract_ns = loop_ns});
  }
  const Row bpf = {"clocks.bpf", "bpf_ktime_get_ns",
                   "64 calls in a program that the kernel runs, without those of an empty one"};
  std::vector<double> samples;
  std::string why;
  for (int sample = 0; sample < 16 && why.empty(); ++sample) {
    const auto cost = bpf_clock_ns();
    if (cost)
      samples.push_back(*cost);
    else
      why = cost.error().text();
  }
  if (why.empty())
    bench.add(bpf, std::move(samples));
  else
    bench.leave_out(bpf, why);
}

}  // namespace sojourn::host
