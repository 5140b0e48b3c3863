// RingModule's part of the ledger: the losses of a session's rings, and the advice about them.
#include <algorithm>
#include <bit>
#include <utility>

#include "userspace/capture/records/shared.h"
#include "userspace/capture/rings/ring_module.h"

namespace sojourn::capture {

void RingModule::note_seen(std::span<const sj_ring_loss> table, SeenLosses& seen) {
  for (const sj_ring_loss& loss : table)
    if (const std::uint64_t count = load_acquire(loss.count); count != 0)
      seen[load_relaxed(loss.id)] = count;
}

void RingModule::count_table(std::span<const sj_ring_loss> table, SeenLosses& seen,
                             std::uint32_t stream, model::LossCause cause) {
  auto& lost = cause == model::LossCause::kNoRing ? lost_no_ring_ : lost_ring_full_;
  for (const sj_ring_loss& loss : table) {
    const std::uint64_t count = load_acquire(loss.count);
    if (count == 0) continue;
    const std::uint32_t id = load_relaxed(loss.id);
    std::uint64_t& before = seen[id];
    if (count <= before) continue;
    const std::uint64_t newly = count - std::exchange(before, count);
    const RingSites::Site* const site = shared_->sites.find(id);
    if (site != nullptr && !site->is_wanted) continue;
    if (site != nullptr)
      lost[{stream, site->point}] += newly;
    else
      advice_.lost_of_unknown_points += newly;
  }
}

void RingModule::count_losses(Slot& slot, const sj_ring& ring) {
  slot.lost_seen = load_acquire(ring.lost);
  const std::uint32_t elsewhere = load_acquire(ring.losses_elsewhere);
  if (slot.is_foreign) {
    slot.losses_elsewhere = elsewhere;
    return note_seen(ring.loss, slot.losses);
  }
  number_stream(slot);
  count_table(ring.loss, slot.losses, slot.stream.id, model::LossCause::kRingFull);
  count_elsewhere(elsewhere, slot.losses_elsewhere, slot.stream.id, model::LossCause::kRingFull);
}

// A ring's table has losses of SJ_RING_LOSSES sites; for others it has their sum, which may wrap.
void RingModule::count_elsewhere(std::uint32_t count, std::uint32_t& seen, std::uint32_t stream,
                                 model::LossCause cause) {
  auto& lost = cause == model::LossCause::kNoRing ? lost_no_ring_ : lost_ring_full_;
  const std::uint32_t newly = count - std::exchange(seen, count);
  // A larger difference means that it went back, as in a file that was cut.
  constexpr std::uint32_t kHonest = UINT32_MAX / 2;
  if (newly != 0 && newly <= kHonest) lost[{stream, model::kNoPoint}] += newly;
}

// The number of hits in a skipped span is not known: one counts, as one number is left out.
void RingModule::note_unreadable(std::uint32_t stream, std::uint64_t spans) {
  if (spans != 0) lost_unreadable_[{stream, model::kNoPoint}] += spans;
}

void RingModule::count_refused() {
  const std::uint32_t elsewhere = load_acquire(arena_.refused_elsewhere());
  bool any = elsewhere != refused_elsewhere_;
  for (const sj_ring_loss& loss : arena_.refused()) {
    if (load_relaxed(loss.count) == 0) continue;
    const auto seen = refused_.find(load_relaxed(loss.id));
    any = any || seen == refused_.end() || seen->second != load_relaxed(loss.count);
  }
  if (!any) return;
  if (refused_stream_ == kNoStream) refused_stream_ = shared_->new_stream(0);
  count_table(arena_.refused(), refused_, refused_stream_, model::LossCause::kNoRing);
  count_elsewhere(elsewhere, refused_elsewhere_, refused_stream_, model::LossCause::kNoRing);
}

void RingModule::add_losses(model::Ledger& ledger) const {
  for (const auto& [where, count] : lost_ring_full_)
    ledger.push_back({where.first, where.second, model::LossCause::kRingFull, count});
  for (const auto& [where, count] : lost_no_ring_)
    ledger.push_back({where.first, where.second, model::LossCause::kNoRing, count});
  for (const auto& [where, count] : lost_under_way_)
    ledger.push_back({where.first, where.second, model::LossCause::kUnderWay, count});
  for (const auto& [where, count] : lost_target_gone_)
    ledger.push_back({where.first, where.second, model::LossCause::kTargetGone, count});
  for (const auto& [where, count] : lost_unreadable_)
    ledger.push_back({where.first, where.second, model::LossCause::kUnreadable, count});
}

void RingModule::add_hits(std::vector<std::uint64_t>& hits) const {
  const auto add = [&](std::uint32_t stream, std::uint64_t count) {
    if (hits.size() <= stream) hits.resize(stream + 1);
    hits[stream] += count;
  };
  for (const auto& [stream, count] : kept_) add(stream, count);
  for (const Slot& slot : slots_)
    if (slot.is_read && slot.stream.id != kNoStream) add(slot.stream.id, slot.stream.events);
  // Hits that found no ring have no number, and neither have those during which a thread was
  // killed.
  for (const auto& [where, count] : lost_ring_full_) add(where.first, count);
  for (const auto& [where, count] : lost_under_way_) add(where.first, count);
  for (const auto& [where, count] : lost_unreadable_) add(where.first, count);
}

void RingModule::add_advice(RingAdvice& advice) const {
  // Compares how full rings were by share, not by bytes.
  const auto part = [](const RingAdvice& of) {
    return of.ring_bytes == 0
               ? 0
               : static_cast<double>(of.most_filled) / static_cast<double>(of.ring_bytes);
  };
  if (part(advice_) > part(advice)) {
    advice.ring_bytes = advice_.ring_bytes;
    advice.most_filled = advice_.most_filled;
  }
  const double needed = 2 * max_bytes_per_tick_ * static_cast<double>(longest_unseen_);
  constexpr double kMax = 1ULL << 40;
  advice.safe_ring_bytes = std::max(
      advice.safe_ring_bytes, std::bit_ceil(static_cast<std::uint64_t>(std::min(needed, kMax))));
  advice.max_ring_bytes =
      std::max(advice.max_ring_bytes, std::bit_floor(arena_.layout().max_ring_bytes()));
  const RingClock& clock = *shared_->clock;
  advice.longest_unseen_ns =
      std::max(advice.longest_unseen_ns,
               clock.to_ns(last_look_) - clock.to_ns(last_look_ - longest_unseen_));
  // The module that has the least room.
  if (arena_.slots_used() >= advice.rings) {
    advice.rings = arena_.slots_used();
    advice.memory_ceiling = arena_.memory_ceiling();
  }
  advice.foreign_events += advice_.foreign_events;
  advice.damaged += advice_.damaged;
  advice.cut += arena_.was_cut() ? 1 : 0;
  for (const Slot& slot : slots_)
    if (slot.is_read) advice.damaged += slot.stream.damaged;
  advice.silences += silences_.size();
  advice.lost_of_unknown_points += advice_.lost_of_unknown_points;
  for (const auto& [where, count] : lost_under_way_) advice.under_way += count;
}

}  // namespace sojourn::capture
