// What of a capture's events was kept, what was not and why, and who is told while it runs.
#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "userspace/base/clock.h"
#include "userspace/base/words.h"
#include "userspace/capture/capture_state.h"

namespace sojourn::capture {

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// The cause of most of what was lost, and what to do about it.
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
      return "what stood in rings made no sense: is something writing over the target's memory?";
    default:
      return "`sojourn check` will tell which and why";
  }
}

}  // namespace

NotKept not_kept(const model::Ledger& ledger) {
  NotKept sum;
  for (const model::LedgerEntry& entry : ledger)
    (entry.cause == model::LossCause::kFiltered ? sum.filtered : sum.lost) += entry.count;
  return sum;
}

std::uint64_t Capture::State::events() const {
  std::uint64_t events = retired.events;
  for (const Engine* engine : engines) events += engine->events();
  return output->filter_stage() ? events - std::min(events, output->filter_stage()->filtered())
                                : events;
}

// Of what the sources took, what the sink did not keep.
Capture::State::GivenUp Capture::State::given_up() const {
  model::Ledger ledger;
  sink->add_given_up(ledger);
  GivenUp sum;
  for (const model::LedgerEntry& entry : ledger) {
    const bool is_targets = is_of_target(output->schema().points[entry.point].direction);
    (is_targets ? sum.events : sum.other_events) += entry.count;
  }
  return sum;
}

std::uint64_t Capture::State::other_events() const {
  std::uint64_t events = 0;
  for (const auto& source : sources) events += source->events();
  for (const Engine* engine : engines) events -= engine->events();
  return events;
}

Result<model::Ledger> Capture::State::losses() const {
  model::Ledger ledger = retired.losses;
  for (const auto& source : sources) SJ_CHECK(source->add_losses(ledger));
  sink->add_given_up(ledger);
  if (output->filter_stage()) output->filter_stage()->add_filtered(ledger);
  return ledger;
}

// Whoever watches can still do something about it.
Result<void> Capture::State::poll_losses(const Listener& listener) {
  constexpr std::uint64_t kPeriodNs = kSecond / 10;
  constexpr std::uint64_t kRestNs = 10 * kSecond;
  const std::uint64_t now_ns = base::monotonic_ns();
  loss_words.was_behind = loss_words.was_behind || !sink->has_room();
  if (!is_open() || now_ns < loss_words.next_look_ns) return {};
  loss_words.next_look_ns = now_ns + kPeriodNs;
  SJ_TRY(losses, this->losses());
  const std::uint64_t lost = not_kept(losses).lost;
  const bool is_behind = std::exchange(loss_words.was_behind, false);
  if (lost <= loss_words.told || now_ns < loss_words.next_word_ns) return {};
  loss_words.told = lost;
  loss_words.next_word_ns = now_ns + kRestNs;
  listener.say(fmt::format("losing events, {} so far: {}", base::grouped(lost),
                           why_lost(losses, is_behind)));
  return {};
}

}  // namespace sojourn::capture
