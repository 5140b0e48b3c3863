#include "userspace/capture/rings/ring_module.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "userspace/capture/records/shared.h"
#include "userspace/capture/rings/owner_page.h"

namespace sojourn::capture {

namespace {

constexpr std::size_t kBatchEvents = 16'384;

// A collector that has not polled for this long is taken for dead.
constexpr std::uint64_t kDeadAfterNs = 2'000'000'000;

// A rate of writing that was measured over less time means little.
constexpr std::uint64_t kMinRateSpanNs = 500'000;

constexpr auto kRingFlag = static_cast<std::uint16_t>(SJ_FLAG_RING);

}  // namespace

// ---- the session ----

void RingModule::enter() {
  sj_arena_control& control = arena_.control();
  const std::uint32_t before = load_acquire(control.session);
  keeps_ = before == 1 && load_relaxed(control.dead_after) == 0;
  was_flight_ = load_relaxed(control.mode) == SJ_RING_FLIGHT;
  if (!keeps_) {
    disarm();
    set_marks(UINT64_MAX, UINT64_MAX);
    note_seen(arena_.refused(), refused_);
    refused_elsewhere_ = load_acquire(arena_.refused_elsewhere());
    slots_.resize(arena_.slots_used());
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      slots_[slot].lost_seen = load_acquire(arena_.ring(slot).lost);
      note_seen(arena_.ring(slot).loss, slots_[slot].losses);
      slots_[slot].losses_elsewhere = load_acquire(arena_.ring(slot).losses_elsewhere);
    }
  }
  store_release(control.mode, std::uint32_t{SJ_RING_STOP});
  store_release(control.ring_bytes, shared_->ring_bytes);
  store_release(control.memory_ceiling, shared_->memory_ceiling);
  const std::uint64_t now = now_ticks();
  store_release(control.heartbeat, now);
  const std::uint64_t now_ns = shared_->clock->to_ns(now);
  store_release(control.dead_after, shared_->clock->to_ticks(now_ns + kDeadAfterNs) - now);
  least_rate_span_ = shared_->clock->to_ticks(now_ns + kMinRateSpanNs) - now;
  session_ = (before + 1) | 1;
  store_release(control.session, session_);
  drain(false);
}

void RingModule::set_marks(std::uint64_t open_stamp, std::uint64_t close_stamp) {
  store_release(arena_.control().open_stamp, open_stamp);
  store_release(arena_.control().close_stamp, close_stamp);
}

void RingModule::arm() {
  const auto flags = arena_.flags();
  // A target that armed itself armed all points, also those that are not wanted.
  if (keeps_)
    for (std::size_t flag = 0; flag < flags.size(); ++flag)
      if (std::ranges::find(chosen_, flag) == chosen_.end())
        __atomic_fetch_and(&flags[flag], static_cast<std::uint16_t>(~kRingFlag), __ATOMIC_RELEASE);
  for (const std::size_t flag : chosen_)
    if (!off_.contains(flag)) __atomic_fetch_or(&flags[flag], kRingFlag, __ATOMIC_RELEASE);
  armed_ = true;
}

// A target that finds a ring full and an old heartbeat clears all flags at once.
bool RingModule::is_disarmed() const {
  const auto flags = arena_.flags();
  return armed_ && std::ranges::any_of(chosen_, [&](std::size_t flag) {
           return !off_.contains(flag) && (load_relaxed(flags[flag]) & kRingFlag) == 0;
         });
}

// Watches the flags for a while: the target may have seen the old heartbeat just before it was
// renewed, and clear them only now.
void RingModule::look_for_silence(std::uint64_t now, std::uint64_t unseen) {
  const std::uint64_t timeout = load_relaxed(arena_.control().dead_after);
  if (unseen > timeout) {
    silent_from_ = last_look_ + timeout;
    watched_until_ = now + timeout;
  }
  if (now >= watched_until_ || !is_disarmed()) return;
  arm();
  silences_.push_back({.from = silent_from_, .until = now_ticks()});
}

void RingModule::start_over() {
  if (!keeps_) drain(true);
  arm();
  silences_.clear();
  stopped_at_open_ = stopped_owners();
}

void RingModule::switch_flags(std::span<const std::size_t> flags, bool on) {
  const auto words = arena_.flags();
  for (const std::size_t flag : flags) {
    if (on)
      off_.erase(flag);
    else
      off_.insert(flag);
    if (on)
      __atomic_fetch_or(&words[flag], kRingFlag, __ATOMIC_RELEASE);
    else
      __atomic_fetch_and(&words[flag], static_cast<std::uint16_t>(~kRingFlag), __ATOMIC_RELEASE);
  }
}

void RingModule::disarm() {
  arena_.lower_flags();
}

void RingModule::leave() {
  armed_ = false;
  disarm();
  store_release(arena_.control().session, session_ + 1);
}

// ---- rings ----

bool RingModule::drain(bool take) {
  const std::uint64_t now = now_ticks();
  store_release(arena_.control().heartbeat, now);
  const std::uint64_t unseen = last_look_ == 0 ? 0 : now - last_look_;
  look_for_silence(now, unseen);
  last_look_ = now;
  longest_unseen_ = std::max(longest_unseen_, unseen);
  waiting_most_ = 0;
  const std::uint64_t used = arena_.slots_used();
  if (slots_.size() < used) slots_.resize(used);
  bool more = false;
  fill_ = 0;
  for (std::uint64_t index = 0; index < used; ++index)
    if (drain_slot(index, take)) more = true;
  if (unseen >= least_rate_span_ && unseen != 0)
    max_bytes_per_tick_ = std::max(
        max_bytes_per_tick_, static_cast<double>(waiting_most_) / static_cast<double>(unseen));
  count_refused();
  return more;
}

bool RingModule::drain_slot(std::uint64_t index, bool take) {
  Slot& slot = slots_[index];
  const std::uint64_t taken = load_acquire(arena_.slots()[index].taken);
  if (taken == 0 || slot.is_unsound) return false;
  sj_ring& ring = arena_.ring(index);
  // The order matters: an owner that takes over an emptied ring sets `owner` before its first
  // record.
  const std::int64_t cursor = load_acquire(ring.cursor);
  const Claim claim{load_acquire(ring.owner), load_relaxed(ring.claimed_stamp)};
  if (claim.owner != 0 && (!slot.is_read || claim != slot.claim)) {
    // Between taking and entering a ring the old owner's id is still in it.
    if (claim.owner != taken || claim == slot.freed) return false;
    if (slot.is_read) {
      count_losses(slot, ring);
      end_stream(slot);
      begin_stream(slot, claim);
    } else if (!adopt(index, claim)) {
      return false;
    }
  }
  if (!slot.is_read) return false;
  if (load_relaxed(ring.lost) != slot.lost_seen) count_losses(slot, ring);
  const CounterCorrector::Correction correction = correct(slot);
  if (cursor == slot.reader.tail() || !take) return false;

  number_stream(slot);
  const auto waiting = static_cast<std::uint64_t>(cursor - slot.reader.tail());
  const auto capacity = slot.reader.capacity();
  fill_ = std::max(fill_, static_cast<double>(waiting) / static_cast<double>(capacity));
  if (!slot.is_retired) waiting_most_ = std::max(waiting_most_, waiting);
  if (!slot.is_retired && waiting > advice_.most_filled) {
    advice_.most_filled = waiting;
    advice_.ring_bytes = capacity;
  }
  const std::uint64_t events_before = slot.stream.events;
  const std::uint64_t damaged_before = slot.stream.damaged;
  const std::size_t room = kBatchEvents - slot.pending.ts_ns.size();
  if (!slot.reader.read(cursor, shared_->sites, *shared_->clock, shared_->gate, room, slot.stream,
                        slot.pending)) {
    slot.is_unsound = true;
    ++advice_.damaged;
    if (!slot.is_foreign) note_unreadable(slot.stream.id, 1);
    return false;
  }
  const std::uint64_t fresh = slot.stream.events - events_before;
  if (slot.reader.tail() == cursor && slot.looks.front()) slot.look_before = *slot.looks.front();
  if (slot.is_foreign) {
    advice_.foreign_events += fresh;
    slot.pending = {};
    slot.stream.seq = 0;
  } else {
    events_ += fresh;
    if (fresh != 0) counters_error_ns_ = std::max(counters_error_ns_, correction.error_ns);
    if (!correction.is_known) events_of_unknown_cpu_ += fresh;
    if (correction.is_known && slot.stream.correction && slot.stream.correction->not_before != 0)
      slot.last_known = slot.stream.correction->not_before;
    note_unreadable(slot.stream.id, slot.stream.damaged - damaged_before);
    if (slot.pending.ts_ns.size() >= kBatchEvents) shared_->hand_over(slot.pending);
  }
  if (!slot.is_retired)
    store_release(ring.limit, slot.reader.tail() + static_cast<std::int64_t>(capacity));
  return slot.reader.tail() != cursor;
}

// Adopts a ring that a thread entered since the last look, or before the session.
bool RingModule::adopt(std::uint64_t index, const Claim& claim) {
  Slot& slot = slots_[index];
  sj_ring& ring = arena_.ring(index);
  const std::uint64_t capacity = load_relaxed(ring.mask) + 1;
  const std::int64_t cursor = load_acquire(ring.cursor);
  if (!std::has_single_bit(capacity) || capacity < SJ_RING_PAGE ||
      capacity > arena_.layout().max_ring_bytes() || cursor < 0) {
    slot.is_unsound = true;
    ++advice_.damaged;
    if (shared_->is_recorded(static_cast<std::uint32_t>(claim.owner >> 32)))
      note_unreadable(shared_->new_stream(claim.owner), 1);
    return false;
  }
  const auto size = static_cast<std::int64_t>(capacity);
  const bool is_ours = load_relaxed(ring.session) == session_;
  const bool is_flight = load_relaxed(ring.mode) != SJ_RING_STOP;
  const bool is_wrong = is_flight || (shared_->ring_bytes != 0 && shared_->ring_bytes != capacity);
  slot.is_retired = !is_ours && is_wrong;
  const std::int64_t tail = is_ours || keeps_ ? begin_of_kept(ring, capacity, cursor) : cursor;
  if (keeps_ && !is_ours && (earliest_claim_ == 0 || claim.stamp < earliest_claim_))
    earliest_claim_ = claim.stamp;
  if (keeps_ && !is_ours && is_flight && tail > 0)
    whole_from_ = std::max(whole_from_, first_stamp(index, tail, cursor));
  const GapMark gaps_before = is_ours || keeps_ ? slot.gaps_at_free : mark_gaps(ring);
  slot.reader = RecordReader(ring, arena_.ring_data(index), capacity, tail, gaps_before);
  if (slot.is_retired) {
    __atomic_store_n(&ring.retire, 1U, __ATOMIC_RELEASE);
    store_release(ring.limit, std::int64_t{SJ_RING_CLOSED});
  } else if (!is_ours) {
    __atomic_store_n(&ring.session, session_, __ATOMIC_RELAXED);
    __atomic_store_n(&ring.retire, 0U, __ATOMIC_RELAXED);
    store_release(ring.limit, tail + size);
  }
  begin_stream(slot, claim);
  return true;
}

// The stamp of the first record from `tail` on; one in the future is not valid.
std::uint64_t RingModule::first_stamp(std::uint64_t index, std::int64_t tail,
                                      std::int64_t cursor) const {
  const std::uint64_t now = now_ticks();
  if (tail >= cursor) return now;
  const std::uint64_t mask = load_relaxed(arena_.ring(index).mask);
  const std::uint64_t capacity = std::min(mask, arena_.layout().max_ring_bytes() - 1);
  const std::byte* const at =
      arena_.ring_data(index) + (static_cast<std::uint64_t>(tail) & capacity);
  sj_ring_record record{};
  std::memcpy(&record, at, sizeof(record));
  return std::min(std::uint64_t{record.stamp_high} << 32 | record.stamp_low, now);
}

void RingModule::begin_stream(Slot& slot, const Claim& claim) {
  slot.is_read = true;
  slot.claim = claim;
  slot.is_foreign = !shared_->is_recorded(static_cast<std::uint32_t>(claim.owner >> 32));
  const auto tid = static_cast<std::uint32_t>(claim.owner);
  slot.stream = {.id = kNoStream, .tid = slot.is_foreign ? tid : shared_->host_tid(claim.owner)};
  slot.looks = {};
  slot.last_known = 0;
  if (shared_->corrector != nullptr && shared_->corrector->is_needed())
    slot.look_before = shared_->first_look(claim.owner);
}

// Rings of foreign processes that are recorded by now.
void RingModule::recognise() {
  for (Slot& slot : slots_)
    if (slot.is_read && slot.is_foreign) begin_stream(slot, slot.claim);
}

// Returns the correction for the owner's records that were not read yet. It is known if the owner
// has stayed on one CPU since `look_before`, a look that is older than the first of these records.
//
// The look must be older than the record's stamp. A record is published some time after it is
// stamped, so the look at the time of the last read is too new: the owner may have stamped before
// it, and may have moved to another CPU since. Therefore the oldest of the last three looks is
// used. The record before the first unread one was published after it.
CounterCorrector::Correction RingModule::correct(Slot& slot) {
  if (shared_->corrector == nullptr) return {};
  const CounterCorrector& corrector = *shared_->corrector;
  if (!corrector.is_needed() || slot.is_foreign) return corrector.of_any();
  std::ranges::rotate(slot.looks, slot.looks.begin() + 1);
  slot.looks.back() = shared_->look_at_cpu(slot.claim.owner);
  const auto& now = slot.looks.back();
  auto correction = corrector.of_cpu(now ? cpu_between(slot.look_before, *now) : -1);
  if (!slot.stream.correction) slot.stream.correction.emplace();
  RingCorrection& its = *slot.stream.correction;
  its.ahead_ticks = correction.ahead_ticks;
  its.not_after = UINT64_MAX;
  if (correction.is_known) return correction;
  // These records were stamped after the last record with a known time, and are in the ring now.
  its.not_after = corrector.now();
  if (slot.last_known != 0 && slot.last_known < its.not_after)
    correction.error_ns = std::min(correction.error_ns, shared_->clock->to_ns(its.not_after) -
                                                            shared_->clock->to_ns(slot.last_known) +
                                                            corrector.known_error_ns());
  return correction;
}

// Numbers a stream once its ring has records: not every ring that is retired was used.
void RingModule::number_stream(Slot& slot) {
  if (slot.stream.id == kNoStream && !slot.is_foreign)
    slot.stream.id = shared_->new_stream(slot.claim.owner);
}

void RingModule::end_stream(Slot& slot) {
  if (slot.is_foreign) return;
  advice_.damaged += slot.stream.damaged;
  if (!slot.pending.ts_ns.empty()) shared_->hand_over(slot.pending);
  if (slot.stream.id != kNoStream) kept_[slot.stream.id] = slot.stream.events;
}

// Marks the rings that were seen, so a look must come first.
void RingModule::mark() {
  for (std::uint64_t index = 0; index < slots_.size(); ++index)
    slots_[index].mark = load_acquire(arena_.ring(index).cursor);
}

bool RingModule::is_past_mark() const {
  return std::ranges::all_of(slots_, [](const Slot& slot) {
    return !slot.is_read || slot.is_unsound || slot.reader.tail() >= slot.mark;
  });
}

void RingModule::flush() {
  for (Slot& slot : slots_)
    if (slot.is_read && !slot.pending.ts_ns.empty()) shared_->hand_over(slot.pending);
}

void RingModule::free_abandoned() {
  for (std::uint64_t index = 0; index < slots_.size(); ++index) {
    Slot& slot = slots_[index];
    if (!slot.is_read) continue;
    const bool is_left = slot.is_retired && load_acquire(arena_.ring(index).owner) == 0;
    if (!is_left && shared_->is_alive(slot.claim.owner)) continue;
    // The owner is gone, so the records that are there now are all.
    const Claim left = slot.claim;
    while (drain_slot(index, true)) {
    }
    if (slot.claim == left && !slot.is_unsound) free_slot(index);
  }
}

void RingModule::free_slot(std::uint64_t index) {
  Slot& slot = slots_[index];
  if (load_relaxed(arena_.ring(index).lost) != slot.lost_seen)
    count_losses(slot, arena_.ring(index));
  count_under_way(index);
  end_stream(slot);
  slot.freed = slot.claim;
  slot.gaps_at_free = mark_gaps(arena_.ring(index));
  slot.is_read = false;
  __atomic_store_n(&arena_.ring(index).retire, 0U, __ATOMIC_RELAXED);
  // Another thread may have taken the dead thread's ring meanwhile.
  std::uint64_t owner = slot.claim.owner;
  __atomic_compare_exchange_n(&arena_.slots()[index].taken, &owner, std::uint64_t{0}, false,
                              __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

}  // namespace sojourn::capture
