#include "analysis/threads/thread_role.h"

#include <algorithm>
#include <array>

namespace sojourn::threads {

namespace {

// A thread that runs for this share of the time has no role by its waits.
constexpr double kAlways = 0.9;
// A thread polls if more than this share of its calls found nothing, and there is at least this
// number of them for each millisecond of work.
constexpr double kEmptyPollShare = 0.5;
constexpr double kEmptyCallsAMillisecond = 1;
// The share of its waits that a cause must have ended to decide the role.
constexpr double kDominantShare = 0.6;
// Intervals are regular if their interquartile range is at most this share of the median.
constexpr double kRegular = 0.3;
constexpr std::uint64_t kFewIntervals = 8;

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

bool is_regular(const statistics::Distribution& intervals) {
  const auto median = static_cast<double>(intervals.quantile(0.5));
  const auto spread =
      static_cast<double>(intervals.quantile(0.75)) - static_cast<double>(intervals.quantile(0.25));
  return intervals.count() >= kFewIntervals && spread <= kRegular * median;
}

bool looks_for_work(const ThreadActivity& activity) {
  return share(activity.empty_calls, activity.calls) >= kEmptyPollShare &&
         static_cast<double>(activity.empty_calls) >=
             kEmptyCallsAMillisecond * static_cast<double>(activity.running_ns) / 1e6;
}

}  // namespace

std::string_view name(ThreadRole role) {
  constexpr std::array<std::string_view, 9> kWords = {
      "idle", "periodic", "timed", "socket", "driven", "device", "polling", "busy", "mixed"};
  return kWords[static_cast<std::size_t>(role)];
}

RoleGuess guess_role(const ThreadActivity& activity) {
  const double wants_cpu = share(activity.running_ns + activity.runnable_ns, activity.total_ns());
  if (wants_cpu >= kAlways)
    return {.role = looks_for_work(activity) ? ThreadRole::kPolling : ThreadRole::kBusy,
            .share = wants_cpu,
            .period_ns = std::nullopt};
  const std::uint64_t all = activity.all_wakes();
  if (all == 0) return {};
  const auto of = [&](WakeCause cause) {
    return share(activity.wakes[static_cast<std::size_t>(cause)], all);
  };
  const double ticks = of(WakeCause::kTimer) + of(WakeCause::kInterrupt);
  if (ticks >= kDominantShare && is_regular(activity.intervals_ns))
    return {.role = ThreadRole::kPeriodic,
            .share = ticks,
            .period_ns = activity.intervals_ns.quantile(0.5)};
  struct Candidate {
    WakeCause cause;
    ThreadRole role;
  };
  for (const auto& [cause, role] : {Candidate{WakeCause::kTimer, ThreadRole::kTimed},
                                    Candidate{WakeCause::kNetwork, ThreadRole::kSocket},
                                    Candidate{WakeCause::kThread, ThreadRole::kDriven},
                                    Candidate{WakeCause::kInterrupt, ThreadRole::kDevice}})
    if (of(cause) >= kDominantShare)
      return {.role = role, .share = of(cause), .period_ns = std::nullopt};
  return {.role = ThreadRole::kMixed,
          .share = std::max({of(WakeCause::kTimer), of(WakeCause::kNetwork), of(WakeCause::kThread),
                             of(WakeCause::kInterrupt), of(WakeCause::kUnknown)}),
          .period_ns = std::nullopt};
}

}  // namespace sojourn::threads
