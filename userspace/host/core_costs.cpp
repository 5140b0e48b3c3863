// Costs between cores: moving a cache line, offsets of cycle counters, waking a thread, timers, and
// gaps that no thread explains.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "userspace/capture/api.h"
#include "userspace/host/partner.h"
#include "userspace/host/subjects.h"

namespace sojourn::host {

namespace {

struct PairFigures {
  std::vector<double> line_ns;  // one way; empty: the other CPU never answered in time
  double offset_ns = 0;
  double error_ns = 0;  // half of the shortest round trip
};

PairFigures measure_pair(std::uint32_t from, std::uint32_t to, double tick_ns,
                         std::uint64_t most_ns) {
  capture::CounterExchange line;
  PairFigures figures;
  Placement::pin(from);
  const PartnerThread partner(to, [&] { line.answer(); });
  double shortest = INFINITY;
  // If other threads want these CPUs, a trip may wait for several of their time slices. So timing
  // starts after the warm-up, and a few samples are allowed ten times as long.
  const std::uint64_t last = base::monotonic_ns() + 10 * most_ns;
  bool is_answered = true;
  for (int warm = 0; is_answered && warm < 100 && base::monotonic_ns() < last; ++warm)
    is_answered = line.ask().has_value();
  const std::uint64_t end = base::monotonic_ns() + most_ns;
  const auto goes_on = [&] {
    const std::size_t samples = figures.line_ns.size();
    return samples < 20'000 && base::monotonic_ns() < (samples < kFewestSamples ? last : end);
  };
  while (is_answered && goes_on()) {
    // The median of several trips, because a trip that waited for its CPU does not show the line's
    // cost.
    std::vector<double> trips;
    for (int trip = 0; is_answered && trip < 15; ++trip) {
      const auto one = line.ask();
      is_answered = one.has_value();
      if (!is_answered) break;
      trips.push_back(one->round_ticks);
      if (one->round_ticks >= shortest) continue;
      shortest = one->round_ticks;
      figures.offset_ns = one->offset_ticks * tick_ns;
    }
    if (!is_answered) break;
    figures.line_ns.push_back(summarise(std::move(trips)).median * tick_ns / 2);
  }
  if (!figures.line_ns.empty()) figures.error_ns = shortest * tick_ns / 2;
  line.end();
  return figures;
}

void measure_pairs(Bench& bench) {
  const Row line = {"cores.line", "a cache line to another core and back, one way",
                    "two threads write one word in turns, with two stamps in each turn"};
  const Row offset = {"cores.offset", "cycle counters' furthest offset",
                      "four stamps, of the shortest round trip of each pair"};
  const auto partner = bench.placement().partner();
  if (!partner) return bench.leave_out_all({line, offset}, "this process may use one CPU only");
  const double tick_ns = counter_tick_ns(bench);
  const std::size_t most = bench.is_full() ? 32 : 8;
  std::vector<std::uint32_t> cpus = bench.placement().allowed();
  const std::string note = cpus.size() > most
                               ? fmt::format("of {} CPUs the first {}", cpus.size(), most)
                               : std::string();
  cpus.resize(std::min(cpus.size(), most));
  CpuMatrix lines{.id = "cores.lines",
                  .group = bench.group(),
                  .name = "a cache line, one way",
                  .unit = Unit::kNs,
                  .cpus = cpus,
                  .values = {},
                  .note = note};
  CpuMatrix offsets{.id = "cores.offsets",
                    .group = bench.group(),
                    .name = "cycle counters' offsets",
                    .unit = Unit::kNs,
                    .cpus = cpus,
                    .values = {},
                    .note = note};
  double furthest = 0;
  double error = 0;
  std::size_t silent = 0;
  const std::uint64_t most_ns = bench.is_full() ? 100'000'000 : 10'000'000;
  for (const std::uint32_t from : cpus) {
    for (const std::uint32_t to : cpus) {
      if (from == to) {
        lines.values.emplace_back();
        offsets.values.emplace_back(0.0);
        continue;
      }
      const PairFigures pair = measure_pair(from, to, tick_ns, most_ns);
      if (pair.line_ns.empty()) {
        ++silent;
        lines.values.emplace_back();
        offsets.values.emplace_back();
        continue;
      }
      lines.values.emplace_back(summarise(pair.line_ns).median);
      offsets.values.emplace_back(pair.offset_ns);
      if (std::abs(pair.offset_ns) > furthest) furthest = std::abs(pair.offset_ns);
      error = std::max(error, pair.error_ns);
    }
  }
  const PairFigures home =
      measure_pair(bench.placement().home(), *partner, tick_ns, bench.effort().most_ns);
  bench.placement().go_home();
  bench.add(line, home.line_ns).note =
      bench.placement().partner_shares_core() ? "both are threads of one core" : "";
  if (error == 0)
    bench.leave_out(offset, "no CPU answered in time: other threads had them");
  else
    bench.add_value(
        offset, furthest, Unit::kNs,
        fmt::format(
            "known to {:.0f} ns: half of the shortest round trip{}", error,
            silent == 0 ? "" : fmt::format("; of {} pairs nobody answered in time", silent)));
  bench.profile().matrices.push_back(std::move(lines));
  bench.profile().matrices.push_back(std::move(offsets));
}

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  syscall(SYS_futex, &word, operation, value, nullptr, nullptr, 0);
}

void spin_for(std::uint64_t ns) {
  const std::uint64_t end = base::monotonic_ns() + ns;
  while (base::monotonic_ns() < end) {
  }
}

void measure_wakeup(Bench& bench) {
  const Row row = {"cores.wakeup", "waking a thread on another CPU",
                   "from before futex(WAKE) to the woken thread's first instruction"};
  const auto cpu = bench.placement().partner();
  if (!cpu) return bench.leave_out(row, "this process may use one CPU only");
  std::atomic<std::uint32_t> word = 0;  // the number of its wakeups
  std::atomic<std::uint64_t> woken_ns = 0;
  std::atomic<bool> is_over = false;
  const PartnerThread partner(*cpu, [&] {
    for (std::uint32_t seen = 0; !is_over;) {
      futex(word, FUTEX_WAIT_PRIVATE, seen);
      const std::uint64_t now = base::monotonic_ns();
      if (word.load() == seen) continue;
      seen = word.load();
      woken_ns = now;
    }
  });
  const std::uint64_t asleep_ns = bench.form() == Form::kBrief ? 30'000 : 100'000;
  std::vector<double> samples;
  const std::uint64_t end = base::monotonic_ns() + 3 * bench.effort().most_ns;
  while (samples.size() < bench.effort().most && base::monotonic_ns() < end) {
    woken_ns = 0;
    spin_for(asleep_ns);
    const std::uint64_t before = base::monotonic_ns();
    word.fetch_add(1);
    futex(word, FUTEX_WAKE_PRIVATE, 1);
    while (woken_ns == 0 && base::monotonic_ns() < before + 100'000'000) {
    }
    const std::uint64_t woken = woken_ns;
    if (woken >= before) samples.push_back(static_cast<double>(woken - before));
  }
  is_over = true;
  word.fetch_add(1);
  futex(word, FUTEX_WAKE_PRIVATE, 1);
  bench.add(row, std::move(samples));
}

std::vector<double> timer_lateness(const Bench& bench) {
  constexpr std::uint64_t kIntervalNs = 200'000;
  std::vector<double> samples;
  const std::uint64_t end = base::monotonic_ns() + 3 * bench.effort().most_ns;
  while (samples.size() < bench.effort().most && base::monotonic_ns() < end) {
    const std::uint64_t due = base::monotonic_ns() + kIntervalNs;
    const timespec at{.tv_sec = static_cast<time_t>(due / 1'000'000'000),
                      .tv_nsec = static_cast<long>(due % 1'000'000'000)};
    if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) != 0) continue;
    samples.push_back(static_cast<double>(base::monotonic_ns() - due));
  }
  return samples;
}

void measure_timers(Bench& bench) {
  const int slack = prctl(PR_GET_TIMERSLACK);
  prctl(PR_SET_TIMERSLACK, 1UL);
  bench.add({"cores.timer", "lateness of a timer, without slack",
             "clock_nanosleep() of 200 us, slack 1 ns"},
            timer_lateness(bench));
  prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(std::max(slack, 1)));
  if (bench.form() == Form::kBrief) return;
  bench
      .add({"cores.timer_slack", "lateness of a timer, with this process's slack",
            "clock_nanosleep() of 200 us"},
           timer_lateness(bench))
      .note = fmt::format("the slack is {:.0f} us", static_cast<double>(slack) / 1000);
}

struct Gaps {
  std::vector<double> unexplained_ns;
  std::uint64_t explained = 0;  // another thread ran
  std::uint64_t spent_ns = 0;
};

Gaps find_gaps(std::uint64_t span_ns, std::uint64_t threshold_ns) {
  Gaps gaps;
  std::uint64_t preempted = times_preempted();
  const std::uint64_t begin = base::monotonic_ns();
  for (std::uint64_t last = begin; last < begin + span_ns;) {
    const std::uint64_t now = base::monotonic_ns();
    const std::uint64_t gap = now - last;
    last = now;
    if (gap < threshold_ns) continue;
    const std::uint64_t times = times_preempted();
    if (times == preempted)
      gaps.unexplained_ns.push_back(static_cast<double>(gap));
    else
      ++gaps.explained;
    preempted = times;
    last = base::monotonic_ns();
  }
  gaps.spent_ns = base::monotonic_ns() - begin;
  return gaps;
}

void measure_noise(Bench& bench) {
  constexpr std::uint64_t kThresholdNs = 1000;
  const Gaps gaps = find_gaps(bench.is_full() ? 5'000'000'000 : 400'000'000, kThresholdNs);
  double sum = 0;
  double longest = 0;
  for (const double gap : gaps.unexplained_ns) {
    sum += gap;
    longest = std::max(longest, gap);
  }
  const auto seconds = static_cast<double>(gaps.spent_ns) / 1e9;
  bench.add_value(
      {"cores.noise.share", "time in gaps that no thread explains",
       "a thread reads the clock without end; gaps of 1 us and more"},
      sum / static_cast<double>(gaps.spent_ns) * 100, Unit::kPercent,
      fmt::format("{:.0f} a second; interrupts, and in a virtual machine its host; {} "
                  "gaps in which other threads ran are not counted",
                  static_cast<double>(gaps.unexplained_ns.size()) / seconds, gaps.explained));
  if (!gaps.unexplained_ns.empty())
    bench.add_value({"cores.noise.longest", "longest gap that no thread explains",
                     fmt::format("in {:.1f} s", seconds)},
                    longest, Unit::kNs);
}

}  // namespace

void measure_cores(Bench& bench) {
  if (bench.form() != Form::kBrief) measure_pairs(bench);
  measure_wakeup(bench);
  measure_timers(bench);
  if (bench.form() != Form::kBrief) measure_noise(bench);
}

}  // namespace sojourn::host
