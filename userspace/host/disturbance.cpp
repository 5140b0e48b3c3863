#include "userspace/host/disturbance.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <sys/times.h>

#include "userspace/host/subjects.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::host {

namespace {

constexpr double kMuchSteal = 0.01;
constexpr double kMuchOthers = 0.05;
constexpr double kFrequencyChange = 0.02;
constexpr std::uint64_t kCycles = 3'000'000;

// The columns of /proc/stat: user nice system idle iowait irq softirq steal
bool parse_line(std::string_view line, CpuTicks& into) {
  constexpr std::size_t kFields = 8;
  std::array<std::uint64_t, kFields> fields{};
  std::size_t count = 0;
  for (const std::string_view word : tracee::split(line, ' ')) {
    if (word.empty() || count == kFields) continue;
    const auto number = tracee::parse_number(word);
    if (!number) return false;
    fields[count++] = *number;
  }
  if (count < kFields) return false;
  into = {.busy = fields[0] + fields[1] + fields[2] + fields[5] + fields[6],
          .idle = fields[3] + fields[4],
          .steal = fields[7]};
  return true;
}

// A counter that goes backwards, as on some virtual machines, counts as unchanged.
std::uint64_t since(std::uint64_t before, std::uint64_t after) {
  return after > before ? after - before : 0;
}

// The shortest of a few measurements, so that a preemption is not taken for a change of frequency.
double cycle_now_ns() {
  double shortest = INFINITY;
  for (int attempt = 0; attempt < 8; ++attempt)
    shortest = std::min(shortest, measure_cycle_ns(kCycles / 8));
  return shortest;
}

}  // namespace

StatReading parse_stat_file(std::string_view text, std::uint32_t home) {
  StatReading reading;
  const std::string own = fmt::format("cpu{} ", home);
  bool has_home = false;
  for (const std::string_view line : tracee::split(text, '\n')) {
    if (line.starts_with("cpu ")) reading.is_told = parse_line(line.substr(4), reading.all);
    if (line.starts_with(own)) has_home = parse_line(line.substr(own.size()), reading.of_home);
  }
  reading.is_told = reading.is_told && has_home;
  return reading;
}

std::vector<std::string> disturbances(const StatReading& before, const StatReading& after,
                                      std::uint64_t own_ticks) {
  std::vector<std::string> found;
  if (!before.is_told || !after.is_told) {
    found.emplace_back("steal and other processes are not told: /proc/stat cannot be read");
    return found;
  }
  const std::uint64_t steal = since(before.all.steal, after.all.steal);
  const std::uint64_t busy = since(before.all.busy, after.all.busy);
  const std::uint64_t idle = since(before.all.idle, after.all.idle);
  const auto all = static_cast<double>(steal + busy + idle);
  if (all == 0) return found;
  if (static_cast<double>(steal) >= kMuchSteal * all)
    found.push_back(fmt::format("the hypervisor took {:.1f} % of the CPUs' time (steal)",
                                static_cast<double>(steal) / all * 100));
  const std::uint64_t others = since(own_ticks, busy);
  if (static_cast<double>(others) >= kMuchOthers * all)
    found.push_back(fmt::format("other processes took {:.0f} % of the CPUs' time",
                                static_cast<double>(others) / all * 100));
  return found;
}

std::string frequency_change(double before_ns, double after_ns) {
  if (!(before_ns > 0) || !(after_ns > 0)) return {};
  const double change = before_ns / after_ns - 1;
  if (std::abs(change) < kFrequencyChange) return {};
  return fmt::format("the frequency changed: {:.0f} MHz at the begin, {:.0f} MHz at the end",
                     1000 / before_ns, 1000 / after_ns);
}

DisturbanceWatch::DisturbanceWatch(const MachineRoots& roots, const Placement& placement)
    : roots_(roots),
      home_(placement.home()),
      before_(parse_stat_file(read_line_below(roots.proc + "/stat"), home_)),
      own_before_(own_ticks()),
      cycle_before_ns_(cycle_now_ns()) {}

std::uint64_t DisturbanceWatch::own_ticks() const {
  tms spent{};
  times(&spent);
  return static_cast<std::uint64_t>(spent.tms_utime + spent.tms_stime + spent.tms_cutime +
                                    spent.tms_cstime);
}

std::vector<std::string> DisturbanceWatch::warnings() const {
  const StatReading after = parse_stat_file(read_line_below(roots_.proc + "/stat"), home_);
  auto found = disturbances(before_, after, own_ticks() - own_before_);
  if (std::string changed = frequency_change(cycle_before_ns_, cycle_now_ns()); !changed.empty())
    found.push_back(std::move(changed));
  return found;
}

}  // namespace sojourn::host
