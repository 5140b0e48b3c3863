#include "userspace/capture/loss_monitor.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "userspace/base/clock.h"
#include "userspace/base/count_text.h"

namespace sojourn::capture {

namespace {

constexpr std::uint64_t kPeriodNs = 100'000'000;
constexpr std::uint64_t kRestNs = 10'000'000'000;

// Returns the cause of most losses, with advice.
std::string_view why_lost(const model::Ledger& ledger, bool is_behind) {
  std::map<model::LossCause, std::uint64_t> by_cause;
  for (const model::LedgerEntry& entry : ledger)
    if (entry.cause != model::LossCause::kFiltered) by_cause[entry.cause] += entry.count;
  const auto most =
      std::ranges::max_element(by_cause, {}, [](const auto& of) { return of.second; });
  switch (most->first) {
    case model::LossCause::kRingFull:
      return is_behind
                 ? "the trace is not written as fast as events come, and the rings are full: "
                   "a faster disk, or fewer points (--points)"
                 : "the rings were full before they were looked into: a larger --ring-size, a "
                   "CPU of its own (--collector-cpu), or fewer points (--points)";
    case model::LossCause::kWriterBehind:
      return "the trace is not written as fast as events come, and the oldest are given up: a "
             "faster disk, or fewer points (--points)";
    case model::LossCause::kNoRing:
      return "threads got no ring: a larger --ring-memory";
    case model::LossCause::kRecursionMissed:
      return "the kernel skipped programs that were running already; this is an upper bound";
    case model::LossCause::kUnreadable:
      return "rings have invalid contents: does something overwrite the target's memory?";
    default:
      return "`sojourn check` will tell which and why";
  }
}

}  // namespace

Result<void> LossMonitor::tick(const Listener& listener) {
  const std::uint64_t now_ns = base::monotonic_ns();
  was_behind_ = was_behind_ || !sink_->has_room();
  if (!record_->is_open() || now_ns < next_look_ns_) return {};
  next_look_ns_ = now_ns + kPeriodNs;
  SJ_TRY(losses, pump_->losses());
  const std::uint64_t lost = not_kept(losses).lost;
  const bool is_behind = std::exchange(was_behind_, false);
  if (lost <= reported_ || now_ns < next_word_ns_) return {};
  reported_ = lost;
  next_word_ns_ = now_ns + kRestNs;
  listener.say(fmt::format("losing events, {} so far: {}", base::grouped(lost),
                           why_lost(losses, is_behind)));
  return {};
}

}  // namespace sojourn::capture
