#include "analysis/journeys/assemble/missing_parents.h"

#include <algorithm>

namespace sojourn::journeys {
namespace {

constexpr std::uint64_t kExcuseFactor = 8;
constexpr std::uint64_t kExcuseFloorNs = 1'000'000'000;

}  // namespace

void MissingParents::explain(std::uint64_t now_ns) {
  while (!waiting_.empty() && waiting_.front().due_ns <= now_ns) {
    auto& unit = *waiting_.front().unit;
    waiting_.pop_front();
    const auto& plan = topology_.points[unit.point];
    auto& counts = totals_.points[unit.point];
    if (unit.is(kHeadless) && loops_.is(unit, plan)) unit.clear(kHeadless);
    const bool cut = is_excused(unit, plan);
    // A block that no numbered units were put into was made inside, of control only. A drop lacks
    // segments for a reason, unless the start of the capture may have cut them off.
    const bool control = unit.is(kHeadless) && !cut && plan.block.takes_numbered;
    const bool lacks = unit.is(kMissing) && (cut || !plan.drop);
    if (unit.is(kHeadless) || lacks) unit.set(cut ? kCut : kOrphan);
    if (unit.is(kHeadless)) ++(cut ? counts.cut : control ? counts.control : counts.orphans);
    unit.clear(kHeadless);
    unit.clear(kMissing);
    store_.release(&unit);
  }
}

// Returns whether the start of the capture, or a loss, may have hidden the missing unit. The floor
// of one second does not apply to a unit that was dropped because a segment was missing: it waited
// as long as others did, and the floor would excuse all drops of the first second.
bool MissingParents::is_excused(const Unit& unit, const PointPlan& plan) const {
  const auto& wait = waits_[unit.point];
  auto reach_ns = rules_.expiry_ns;
  const bool wants_piece = plan.drop && !unit.is(kHeadless);
  if (wait.known())
    reach_ns =
        std::min(reach_ns, std::max(wants_piece ? 0 : kExcuseFloorNs, kExcuseFactor * wait.ns()));
  const auto open_ns = open_ns_ != 0 ? open_ns_ : totals_.first_ns;
  if (unit.ts_ns < open_ns + reach_ns) return true;
  return losses_.between(unit.ts_ns - std::min(unit.ts_ns, reach_ns), unit.ts_ns, plan.direction);
}

}  // namespace sojourn::journeys
