#include "analysis/journeys/backward.h"

#include <algorithm>

namespace sojourn::journeys {
namespace {

// As for forward journeys: circles must not make one journey of a whole trace.
constexpr std::size_t kMaxSteps = 100'000;

}  // namespace

// Leaves units_ in time order.
void Backward::collect(std::span<const UnitId> ends) {
  units_.clear();
  const auto visit = [this](UnitId id) {
    if (id == kNone || store_[id].is(kVisited) || units_.size() >= kMaxSteps) return;
    store_[id].set(kVisited);
    units_.push_back(id);
    pending_.push_back(id);
  };
  pending_.clear();
  for (const auto end : ends) visit(end);
  while (!pending_.empty()) {
    const auto& unit = store_[pending_.back()];
    pending_.pop_back();
    for (const auto parent : store_.parents(unit)) visit(parent);
    visit(unit.repeat_of);
  }
  for (const auto id : units_) store_[id].clear(kVisited);
  std::ranges::sort(units_, {}, [this](UnitId id) { return store_[id].serial; });
}

bool Backward::emit_clean(UnitId end, Outcome outcome) {
  collect(std::span(&end, 1));
  const bool clean = std::ranges::none_of(
      units_, [this](UnitId id) { return store_[id].is(kHeadless) || store_[id].is(kMissing); });
  if (clean) emit_collected(outcome);
  return clean;
}

std::uint32_t Backward::step_of(UnitId unit) const {
  const auto at = std::ranges::lower_bound(serials_, store_[unit].serial);
  if (at == serials_.end() || *at != store_[unit].serial) return kNoStep;
  return static_cast<std::uint32_t>(at - serials_.begin());
}

void Backward::make_steps() {
  steps_.clear();
  parents_.clear();
  serials_.clear();
  std::size_t links = 0;
  for (const auto id : units_) {
    serials_.push_back(store_[id].serial);
    links += store_[id].parent_count;
  }
  parents_.reserve(links);  // steps hold spans into it
  for (const auto id : units_) {
    const auto& unit = store_[id];
    const auto first = parents_.size();
    bool again = unit.is(kAgain);
    for (const auto parent : store_.parents(unit)) {
      const auto step = step_of(parent);
      if (step == kNoStep) continue;
      parents_.push_back(step);
      again |= steps_[step].again;
    }
    steps_.push_back({unit.ts_ns, unit.entered_ns, unit.seq, unit.tid, unit.stream, unit.point,
                      again, unit.is(kAtEnd),
                      unit.repeat_of == kNone ? kNoStep : step_of(unit.repeat_of),
                      store_.values(unit), std::span(parents_).subspan(first)});
  }
}

void Backward::emit(std::span<const UnitId> ends, Outcome outcome) {
  collect(ends);
  emit_collected(outcome);
}

void Backward::emit_collected(Outcome outcome) {
  make_steps();
  Journey out;
  out.id = ++next_id_;
  out.outcome = outcome;
  out.start_ns = UINT64_MAX;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const auto& unit = store_[units_[i]];
    const auto& step = steps_[i];
    out.ambiguous |= unit.is(kAmbiguous);
    out.alternatives += unit.alternatives;
    out.start_ns = std::min(out.start_ns, unit.entered_ns);
    if (unit.is(kCut)) out.outcome = Outcome::kCensored;
    if (unit.is(kOrphan) && out.outcome == Outcome::kComplete) out.outcome = Outcome::kIncomplete;
    out.headless |= unit.is(kCut) || unit.is(kOrphan);
    if (step.repeat_of != kNoStep) {
      ++out.retransmissions;
      if (topology_.points[unit.point].round) ++out.harq_retransmissions;
    } else if (!step.again && topology_.points[unit.point].loop == 0) {
      out.segments = std::max(out.segments, ++per_point_[unit.point]);
    }
    if (topology_.points[unit.point].drop) ++out.drops;
  }
  for (const auto& step : steps_) per_point_[step.point] = 0;
  out.end_step = static_cast<std::uint32_t>(steps_.size() - 1);
  const auto& end = steps_[out.end_step];
  out.direction = topology_.points[end.point].direction;
  out.end_ns = end.ts_ns;
  if (topology_.points[end.point].output) out.last_out_ns = end.ts_ns;
  out.steps = steps_;
  if (out.outcome == Outcome::kCensored && std::ranges::any_of(steps_, &Step::inside))
    out.inside_until_ns = end_ns_;
  observer_.on_journey(out);
}

}  // namespace sojourn::journeys
