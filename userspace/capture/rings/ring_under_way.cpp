// RingModule's part for hits that have begun and are not whole: which ones there are after the
// close mark, whether they are still waited for, and which are lost.
#include <algorithm>
#include <optional>
#include <utility>

#include "userspace/capture/records/hit_code.h"
#include "userspace/capture/records/shared.h"
#include "userspace/capture/records/under_way.h"
#include "userspace/capture/rings/owner_page.h"
#include "userspace/capture/rings/ring_module.h"

namespace sojourn::capture {

std::optional<std::vector<UnfinishedHit>> RingModule::unfinished(std::uint32_t owner_pid,
                                                                 pid_t pid) const {
  std::vector<UnfinishedHit> found;
  for (std::uint64_t index = 0; index < slots_.size(); ++index) {
    const Slot& slot = slots_[index];
    if (!slot.is_read || slot.claim.owner >> 32 != owner_pid || slot.is_unsound) continue;
    // Unfinished hits lie behind the cursor, which is read first, so that none of them is missed.
    const std::int64_t cursor = load_acquire(arena_.ring(index).cursor);
    const auto own = read_owner_page(arena_, index, pid);
    if (!own) return std::nullopt;
    if (own->alive != 0 && own->reserved > cursor) found.push_back({index, cursor});
  }
  return found;
}

bool RingModule::is_whole(const UnfinishedHit& hit) const {
  return load_acquire(arena_.ring(hit.slot).cursor) > hit.position;
}

namespace {

bool was_there(const std::map<std::uint64_t, ThreadPosition>& stopped, std::uint64_t slot,
               const ThreadPosition& now) {
  const auto then = stopped.find(slot);
  return then != stopped.end() && then->second == now;
}

}  // namespace

// ---- those without a place ----

std::map<std::uint64_t, ThreadPosition> RingModule::stopped_owners() const {
  std::map<std::uint64_t, ThreadPosition> stopped;
  if (!shared_->thread_position_of) return stopped;
  for (std::uint64_t index = 0; index < slots_.size(); ++index) {
    const Slot& slot = slots_[index];
    if (!slot.is_read || slot.is_foreign || slot.is_unsound) continue;
    const auto thread_position = shared_->thread_position_of(slot.claim.owner);
    if (thread_position && thread_position->instruction != 0)
      stopped.emplace(index, *thread_position);
  }
  return stopped;
}

// A stopped owner is unsure only if it is between stamp and place.
std::vector<UnsureOwner> RingModule::unsure_owners() {
  std::vector<UnsureOwner> unsure;
  stopped_at_close_.clear();
  if (!kStampComesFirst || !shared_->thread_position_of) return unsure;
  for (std::uint64_t index = 0; index < slots_.size(); ++index) {
    const Slot& slot = slots_[index];
    if (!slot.is_read || slot.is_foreign || slot.is_unsound) continue;
    const std::int64_t position = load_acquire(arena_.ring(index).cursor);
    const auto thread_position = shared_->thread_position_of(slot.claim.owner);
    if (!thread_position) continue;
    if (thread_position->instruction != 0) {
      stopped_at_close_.emplace(index, *thread_position);
      const HitCode where = find_hit(shared_->sites, thread_position->instruction);
      if (where.site == nullptr || where.part != HitPart::kHasStamp) continue;
    }
    unsure.push_back({.slot = index, .position = position, .thread_position = *thread_position});
  }
  return unsure;
}

// A record that was published since is of that hit, or of a later one.
bool RingModule::has_moved(const UnsureOwner& owner) const {
  if (load_acquire(arena_.ring(owner.slot).cursor) != owner.position) return true;
  return shared_->thread_position_of(slots_[owner.slot].claim.owner) != owner.thread_position;
}

// A hit with only a stamp may have begun after the close mark, unless its thread was at the same
// place at that mark.
HitCode RingModule::hit_of_stopped_owner(std::uint64_t index,
                                         const ThreadPosition& thread_position) const {
  const HitCode where = find_hit(shared_->sites, thread_position.instruction);
  if (where.site == nullptr || where.part == HitPart::kHasPlace) return where;
  return was_there(stopped_at_close_, index, thread_position) ? where : HitCode{};
}

// ---- losses ----

void RingModule::close_books() {
  if (std::exchange(has_closed_books_, true)) return;
  for (std::uint64_t index = 0; index < slots_.size(); ++index)
    if (slots_[index].is_read) count_under_way(index);
}

// Returns all hits behind the last record that was read and between the marks, including those that
// have become whole since.
std::vector<HitUnderWay> RingModule::under_way(std::uint64_t index, std::uint64_t until) const {
  const Slot& slot = slots_[index];
  if (slot.is_foreign || slot.is_unsound) return {};
  RingEnd end{.data = arena_.ring_data(index),
              .capacity = slot.reader.capacity(),
              .from = slot.reader.tail(),
              .reserved = std::nullopt,
              .not_before = std::max(slot.reader.last_stamp(), slot.claim.stamp),
              .not_after = UINT64_MAX,
              .stands = {}};
  if (shared_->is_alive(slot.claim.owner)) {
    const auto thread_position =
        shared_->thread_position_of ? shared_->thread_position_of(slot.claim.owner) : std::nullopt;
    if (thread_position && thread_position->instruction != 0) {
      // The thread was in this hit before the open mark.
      if (was_there(stopped_at_open_, index, *thread_position)) return {};
      end.stands = hit_of_stopped_owner(index, *thread_position);
    }
    if (const auto own = read_owner_page(arena_, index, shared_->host_pid(slot.claim.owner)))
      end.reserved = own->alive != 0 ? own->reserved : end.from;
  }
  end.not_after = read_cycle_counter();
  std::vector<HitUnderWay> hits = hits_under_way(end, shared_->sites);
  std::erase_if(hits, [&](const HitUnderWay& hit) {
    const bool is_outside =
        hit.stamp != 0 && (hit.stamp < shared_->gate.open || hit.stamp >= until);
    return is_outside || (hit.site != nullptr && !hit.site->is_wanted);
  });
  return hits;
}

namespace {

model::PointId point_of(const HitUnderWay& hit) {
  return hit.site != nullptr ? hit.site->point : model::kNoPoint;
}

}  // namespace

void RingModule::count_under_way(std::uint64_t index) {
  Slot& slot = slots_[index];
  auto& lost = shared_->is_alive(slot.claim.owner) ? lost_under_way_ : lost_target_gone_;
  for (const HitUnderWay& hit : under_way(index, shared_->gate.close)) {
    number_stream(slot);
    ++lost[{slot.stream.id, point_of(hit)}];
  }
}

void RingModule::add_under_way(std::uint64_t until, model::Ledger& ledger) {
  for (std::uint64_t index = 0; index < slots_.size(); ++index) {
    Slot& slot = slots_[index];
    if (!slot.is_read || !shared_->is_alive(slot.claim.owner)) continue;
    for (const HitUnderWay& hit : under_way(index, until)) {
      number_stream(slot);
      ledger.push_back({.stream = slot.stream.id,
                        .point = point_of(hit),
                        .cause = model::LossCause::kUnderWay,
                        .count = 1});
    }
  }
}

}  // namespace sojourn::capture
