#include "userspace/capture/session/event_pump.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "userspace/base/clock.h"

namespace sojourn::capture {

NotKept not_kept(const model::Ledger& ledger) {
  NotKept sum;
  for (const model::LedgerEntry& entry : ledger)
    (entry.cause == model::LossCause::kFiltered ? sum.filtered : sum.lost) += entry.count;
  return sum;
}

// True: there is more.
Result<bool> EventPump::poll_with_room() {
  // Room must be checked before poll(): without room the drain took nothing, even if there is room
  // by now.
  const bool had_room = sink_->has_room();
  SJ_TRY(more, poll());
  if (!had_room) std::this_thread::sleep_for(poll_period());
  return !sink_->failed() && (more || !had_room);
}

Result<void> EventPump::catch_up() {
  SJ_CHECK(sources_->settle_so_far());
  for (bool first = true, behind = true; behind;) {
    SJ_CHECK(poll_with_room());
    // By now rings that came into use have been seen.
    if (std::exchange(first, false)) sources_->mark();
    behind = !sink_->failed() && !sources_->are_past_mark();
  }
  flush();
  SJ_TRY(losses, this->losses());
  sink_->push(base::read_clock_pair());
  sink_->push(losses);
  return {};
}

Result<void> EventPump::drain_rest() {
  for (bool more = true; more;) {
    SJ_TRY(left, poll_with_room());
    more = left;
  }
  flush();
  return {};
}

std::uint64_t EventPump::events() const {
  const std::uint64_t events = sources_->engine_events();
  const auto& filter = output_->filter_stage();
  return filter ? events - std::min(events, filter->filtered()) : events;
}

std::uint64_t EventPump::other_events() const {
  return sources_->other_events();
}

EventPump::GivenUp EventPump::given_up() const {
  model::Ledger ledger;
  sink_->add_given_up(ledger);
  GivenUp sum;
  for (const model::LedgerEntry& entry : ledger) {
    const bool is_targets = is_of_target(output_->schema().points[entry.point].direction);
    (is_targets ? sum.events : sum.other_events) += entry.count;
  }
  return sum;
}

Result<model::Ledger> EventPump::losses() const {
  model::Ledger ledger;
  SJ_CHECK(sources_->add_losses(ledger));
  sink_->add_given_up(ledger);
  if (output_->filter_stage()) output_->filter_stage()->add_filtered(ledger);
  return ledger;
}

Result<std::vector<std::uint64_t>> EventPump::hits_by_point() {
  flush();
  std::vector<std::uint64_t> hits = sink_->events_by_point();
  SJ_TRY(not_kept, losses());
  for (const model::LedgerEntry& entry : not_kept)
    if (entry.point < hits.size()) hits[entry.point] += entry.count;
  return hits;
}

}  // namespace sojourn::capture
