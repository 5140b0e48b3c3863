#include "analysis/threads/role.h"

#include <algorithm>
#include <array>

namespace sojourn::threads {

namespace {

// A thread that hardly ever waits does not wait for something.
constexpr double kAlways = 0.9;
// More than the half of its calls, and so many to each millisecond of work, is looking for work.
constexpr double kMostlyEmpty = 0.5;
constexpr double kEmptyCallsAMillisecond = 1;
// So much of what ends its waits decides.
constexpr double kMostly = 0.6;
// Intervals are regular where the middle half of them is as narrow as that.
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

bool looks_for_work(const Story& story) {
  return share(story.empty_calls, story.calls) >= kMostlyEmpty &&
         static_cast<double>(story.empty_calls) >=
             kEmptyCallsAMillisecond * static_cast<double>(story.running_ns) / 1e6;
}

}  // namespace

std::string_view name(Role role) {
  constexpr std::array<std::string_view, 9> kWords = {
      "idle", "periodic", "timed", "socket", "driven", "device", "polling", "busy", "mixed"};
  return kWords[static_cast<std::size_t>(role)];
}

Judgement judge(const Story& story) {
  const double wants_cpu = share(story.running_ns + story.runnable_ns, story.total_ns());
  if (wants_cpu >= kAlways)
    return {.role = looks_for_work(story) ? Role::kPolling : Role::kBusy,
            .share = wants_cpu,
            .period_ns = std::nullopt};
  const std::uint64_t all = story.all_wakes();
  if (all == 0) return {};
  const auto of = [&](Cause cause) {
    return share(story.wakes[static_cast<std::size_t>(cause)], all);
  };
  const double ticks = of(Cause::kTimer) + of(Cause::kInterrupt);
  if (ticks >= kMostly && is_regular(story.intervals_ns))
    return {.role = Role::kPeriodic, .share = ticks, .period_ns = story.intervals_ns.quantile(0.5)};
  struct Candidate {
    Cause cause;
    Role role;
  };
  for (const auto& [cause, role] :
       {Candidate{Cause::kTimer, Role::kTimed}, Candidate{Cause::kNetwork, Role::kSocket},
        Candidate{Cause::kThread, Role::kDriven}, Candidate{Cause::kInterrupt, Role::kDevice}})
    if (of(cause) >= kMostly) return {.role = role, .share = of(cause), .period_ns = std::nullopt};
  return {.role = Role::kMixed,
          .share = std::max({of(Cause::kTimer), of(Cause::kNetwork), of(Cause::kThread),
                             of(Cause::kInterrupt), of(Cause::kUnknown)}),
          .period_ns = std::nullopt};
}

}  // namespace sojourn::threads
