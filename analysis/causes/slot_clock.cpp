#include "analysis/causes/slot_clock.h"

namespace sojourn::causes {

namespace {

constexpr std::uint64_t kEnough = 10;    // slots needed for a result
constexpr std::uint64_t kFarAhead = 64;  // slots: a larger jump is not used for a slot's length
// At least one in this many new slots, as several cells have a clock each.
constexpr std::uint64_t kLeads = 4;

}  // namespace

void SlotClock::note(std::uint64_t ts_ns, std::uint32_t tid, std::uint64_t slot) {
  const std::uint64_t ahead = slot - last_slot_;
  // Events of transmissions name their own slot, which may be an old one.
  if (has_begun_ && ahead == 0) return;
  const bool is_near = has_begun_ && ahead <= kFarAhead;
  const bool is_behind = has_begun_ && last_slot_ - slot <= kFarAhead;
  if (is_behind) return;
  if (is_near) {
    ++firsts_[tid];
    ++slots_;
    passed_slots_ += ahead;
    passed_ns_ += ts_ns - last_ns_;
  }
  has_begun_ = true;
  last_slot_ = slot;
  last_ns_ = ts_ns;
}

bool SlotClock::leads(std::uint32_t tid) const {
  const auto found = firsts_.find(tid);
  return found != firsts_.end() && slots_ >= kEnough && kLeads * found->second >= slots_;
}

std::uint64_t SlotClock::slot_ns() const {
  return passed_slots_ < kEnough ? 0 : passed_ns_ / passed_slots_;
}

}  // namespace sojourn::causes
