#include "analysis/host/host_floors.h"

#include <fmt/format.h>

namespace sojourn::host {

namespace {

// The median of a measurement. Nothing if it was unstable, because such a median is no floor.
std::optional<double> stable_median(const HostProfile& profile, std::string_view id) {
  const Measurement* const one = profile.find(id);
  if (one == nullptr || !one->unstable.empty()) return std::nullopt;
  return one->measured.median;
}

std::string time_text(double ns) {
  if (ns < 1000) return fmt::format("{:.0f} ns", ns);
  return fmt::format("{:.1f} us", ns / 1000);
}

}  // namespace

std::optional<Floor> floor_of(const HostProfile& profile, Handover handover) {
  if (handover == Handover::kSameThread) {
    // Two stamps are never nearer than one reading of their clock. Rings read the cycle counter,
    // which is the faster one.
    if (const auto counter = stable_median(profile, "clocks.rdtsc"))
      return Floor{*counter,
                   fmt::format("reading the cycle counter takes {} here", time_text(*counter))};
    const auto clock = stable_median(profile, "clocks.monotonic");
    if (!clock) return std::nullopt;
    return Floor{*clock, fmt::format("reading the clock takes {} here", time_text(*clock))};
  }
  const std::optional<double> wakeup = stable_median(profile, "cores.wakeup");
  const std::optional<double> same = stable_median(profile, "switches.futex");
  if (!wakeup && !same) return std::nullopt;
  if (!wakeup || (same && *same < *wakeup))
    return Floor{*same, fmt::format("a switch to the thread that was woken takes {} here",
                                    time_text(*same))};
  return Floor{*wakeup,
               fmt::format("waking a thread on another CPU takes {} here", time_text(*wakeup))};
}

bool is_as_fast_as_allowed(double median_ns, const Floor& floor) {
  return floor.ns > 0 && median_ns <= kAsFastAsItGets * floor.ns;
}

}  // namespace sojourn::host
