#include "userspace/capture/perf/perf_counters.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <system_error>

#include <linux/perf_event.h>

#include "userspace/capture/perf/perf_open.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::capture {

namespace {

constexpr std::uint64_t kLlcLoadMisses = PERF_COUNT_HW_CACHE_LL |
                                         (PERF_COUNT_HW_CACHE_OP_READ << 8) |
                                         (PERF_COUNT_HW_CACHE_RESULT_MISS << 16);

// Periods that are primes keep out of step with loops.
constexpr std::array kKinds = {
    PerfKind{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 4'000'037, false,
             "the processor's cycles"},
    PerfKind{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 4'000'037, false,
             "instructions that it completed"},
    PerfKind{"LLC-load-misses", PERF_TYPE_HW_CACHE, kLlcLoadMisses, 10'007, false,
             "loads that the last level of cache did not have"},
    PerfKind{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 1, false,
             "page faults, each of them"},
    PerfKind{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, 1, true,
             "switches away from a thread, each of them"},
    PerfKind{"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, 1, true,
             "moves of a thread to another CPU, each of them"},
};

constexpr PerfKind kProfileClock = {"profile",
                                    PERF_TYPE_SOFTWARE,
                                    PERF_COUNT_SW_CPU_CLOCK,
                                    0,
                                    false,
                                    "the stacks of running threads"};

constexpr std::uint64_t kMaxHertz = 100'000;

Error no_such_counter(std::string_view word) {
  std::string names;
  for (const PerfKind& kind : kKinds) names += (names.empty() ? "" : ", ") + std::string(kind.name);
  return Error(fmt::format("\"{}\" is no counter: there are {}", tracee::printable(word), names));
}

std::string why_not(const PerfKind& kind, int code) {
  const bool is_software = kind.type == PERF_TYPE_SOFTWARE;
  if (code == EACCES || code == EPERM)
    return "no rights: run as root, or give this program CAP_PERFMON";
  if (!is_software && (code == ENOENT || code == EOPNOTSUPP || code == ENODEV))
    return "this machine has no such counter";
  if (code == ENOSYS) return "this kernel has no perf events";
  return std::generic_category().message(code);
}

}  // namespace

std::span<const PerfKind> perf_kinds() {
  return kKinds;
}

const PerfKind* perf_kind(std::string_view name) {
  const auto* found = std::ranges::find(kKinds, name, &PerfKind::name);
  return found == kKinds.end() ? nullptr : found;
}

const PerfKind& profile_clock() {
  return kProfileClock;
}

Result<std::vector<CounterWanted>> parse_counters(std::string_view list) {
  std::vector<CounterWanted> wanted;
  for (const std::string_view word : tracee::split(list, ',')) {
    const std::string_view name = word.substr(0, word.find('='));
    const PerfKind* kind = perf_kind(name);
    if (kind == nullptr) return std::unexpected(no_such_counter(name));
    CounterWanted counter{.kind = kind, .period = kind->period};
    if (name.size() != word.size()) {
      const auto period = tracee::parse_number(word.substr(name.size() + 1));
      if (!period || *period == 0 || *period > INT64_MAX)
        return fail("\"{}\": the period after = is a number of events, e.g. {}={}",
                    tracee::printable(word), name, std::max<std::uint64_t>(kind->period, 1));
      if (kind->type == PERF_TYPE_SOFTWARE && *period != 1)
        return fail("\"{}\": each of the {} is recorded, there is no period",
                    tracee::printable(word), name);
      counter.period = *period;
    }
    if (std::ranges::find(wanted, counter.kind, &CounterWanted::kind) != wanted.end())
      return fail("{} is asked for twice", name);
    wanted.push_back(counter);
  }
  if (wanted.empty()) return fail("name at least one counter, e.g. page-faults");
  return wanted;
}

Result<std::uint64_t> parse_frequency(std::string_view text) {
  double number = 0;
  const auto [rest, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  if (unit == "kHz") number *= 1000;
  const bool has_unit = unit.empty() || unit == "Hz" || unit == "kHz";
  if (code != std::errc() || !has_unit || !(number >= 1) || number > kMaxHertz)
    return fail("\"{}\" is not a frequency such as 999Hz or 1kHz, at most 100kHz",
                tracee::printable(text));
  return static_cast<std::uint64_t>(number);
}

PerfOffer ask_perf(const PerfKind& kind) {
  PerfOffer offer;
  PerfRequest request{.type = kind.type, .config = kind.config, .period = 1'000'000};
  if (open_perf_event(request)) return offer;
  int code = errno;
  if (code == EACCES || code == EPERM) {
    // Without the rights to count in the kernel, the target's own code can still be counted.
    request.user_only = true;
    if (!kind.counts_in_kernel && open_perf_event(request)) {
      offer.user_only = true;
      return offer;
    }
    if (!kind.counts_in_kernel) code = errno;
  }
  offer.missing = why_not(kind, code);
  return offer;
}

std::optional<std::uint64_t> max_samples_a_second() {
  auto text = tracee::read_whole("/proc/sys/kernel/perf_event_max_sample_rate");
  if (!text) return std::nullopt;
  while (text->ends_with('\n')) text->pop_back();
  return tracee::parse_number(*text);
}

}  // namespace sojourn::capture
