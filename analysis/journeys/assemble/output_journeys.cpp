#include "analysis/journeys/assemble/output_journeys.h"

#include <algorithm>
#include <utility>

namespace sojourn::journeys {
namespace {

// If a target sent units in circles, a journey without this limit would be as long as the trace.
constexpr std::size_t kMaxStepsBack = 100'000;
// For so few units that are nearly in order an insertion sort is fastest.
constexpr std::size_t kFew = 64;

void sort_by_serial(std::vector<Unit*>& units) {
  if (units.size() > kFew) {
    std::ranges::sort(units, {}, &Unit::serial);
    return;
  }
  for (std::size_t i = 1; i < units.size(); ++i) {
    auto* const unit = units[i];
    auto at = i;
    for (; at > 0 && units[at - 1]->serial > unit->serial; --at) units[at] = units[at - 1];
    units[at] = unit;
  }
}

// The unit is the next point of a round that was counted before: its parent is a repeat, too. A
// round in between may not have come so far.
bool goes_on(const Unit& unit) {
  const auto parents = unit.all_parents();
  if (parents.empty()) return false;
  const auto before = unit.repeat_of->all_parents();
  const auto* again = parents.front()->repeat_of;
  for (int step = 0; step < kMaxRounds && again != nullptr; ++step, again = again->repeat_of)
    if (std::ranges::find(before, again) != before.end()) return true;
  return false;
}

}  // namespace

// Collects the units of the journey in units_, in time order, and their flags in flags_.
void OutputJourneys::collect(std::span<Unit* const> ends) {
  units_.clear();
  blocks_.clear();
  for (auto* const end : ends) visit(end, units_);
  visit_all();
  if (!blocks_.empty()) visit_blocks();
  flags_ = 0;
  for (auto* const unit : units_) {
    unit->clear(kVisited);
    flags_ |= unit->flags;
  }
  // The walk goes back in time, so the reverse is nearly in order.
  std::ranges::reverse(units_);
  sort_by_serial(units_);
}

void OutputJourneys::visit(Unit* unit, std::vector<Unit*>& into) const {
  if (unit->is(kVisited) || units_.size() >= kMaxStepsBack) return;
  unit->set(kVisited);
  into.push_back(unit);
}

void OutputJourneys::visit_all() {
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const auto& unit = *units_[i];
    if (unit.is(kHasOrigin)) {
      if (auto* const origin = unit.more->origin) visit(origin, units_);
      blocks_.push_back(unit.only_parent);
    } else {
      for (auto* const parent : unit.all_parents()) visit(parent, units_);
    }
    if (unit.repeat_of != nullptr) visit(unit.repeat_of, units_);
  }
}

// Visits the blocks of units whose origins are known, back to the filling of the blocks. Other
// units that were put into these blocks do not belong to the journey.
void OutputJourneys::visit_blocks() {
  auto ends = std::exchange(blocks_, {});
  for (auto* const end : ends) visit(end, blocks_);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const auto& unit = *blocks_[i];
    if (topology_.points[unit.point].block.way != BlockWay::kFilled)
      for (auto* const parent : unit.all_parents()) visit(parent, blocks_);
    if (unit.repeat_of != nullptr) visit(unit.repeat_of, blocks_);
  }
  units_.insert(units_.end(), blocks_.begin(), blocks_.end());
}

bool OutputJourneys::emit_clean(Unit* end, Outcome outcome) {
  collect(std::span(&end, 1));
  const bool clean = (flags_ & (kHeadless | kMissing | kUndecided | kSuspected)) == 0;
  if (clean) emit_collected(outcome);
  return clean;
}

void OutputJourneys::emit(std::span<Unit* const> ends, Outcome outcome) {
  collect(ends);
  emit_collected(outcome);
}

// The step of a unit, or kNoStep beyond the limit of steps.
std::uint32_t OutputJourneys::step_of(const Unit& unit) const {
  return unit.order < units_.size() && units_[unit.order] == &unit ? unit.order : kNoStep;
}

OutputJourneys::Past OutputJourneys::past_of(const Unit& unit) const {
  Past past = {unit.entered_ns, kNoStep, unit.is(kAgain)};
  auto earliest_ns = UINT64_MAX;
  for (const auto* parent : unit.all_parents()) {
    const auto step = step_of(*parent);
    if (step == kNoStep) continue;
    const auto& before = pasts_[step];
    past.again |= before.again;
    if (past.decisive != kNoStep && before.origin_ns >= earliest_ns) continue;
    past.decisive = step;
    earliest_ns = before.origin_ns;
  }
  past.origin_ns = std::min(past.origin_ns, earliest_ns);
  return past;
}

void OutputJourneys::emit_collected(Outcome outcome) {
  for (std::size_t i = 0; i < units_.size(); ++i) units_[i]->order = static_cast<std::uint32_t>(i);
  Journey out;
  out.id = ++next_id_;
  observer_.on_begin(out.id);
  out.outcome = outcome;
  out.start_ns = UINT64_MAX;
  pasts_.clear();
  bool is_plain = true;
  for (const auto* const unit : units_) {
    const auto& plan = topology_.points[unit->point];
    const auto& past = pasts_.emplace_back(past_of(*unit));
    out.start_ns = std::min(out.start_ns, unit->entered_ns);
    if (unit->repeat_of != nullptr && step_of(*unit->repeat_of) != kNoStep) {
      if (goes_on(*unit)) continue;
      ++out.retransmissions;
      if (plan.harq.round) ++out.harq_retransmissions;
    } else if (!past.again && !plan.circles) [[likely]] {
      out.segments = std::max(out.segments, ++per_point_[unit->point]);
    } else if (past.again || (plan.loop == 0 && ++per_point_[unit->point] > 1)) {
      is_plain = false;
    }
    if (plan.drop) ++out.drops;
  }
  for (const auto* const unit : units_) per_point_[unit->point] = 0;
  if (!is_plain) [[unlikely]]
    out.segments = count_pieces();
  out.ambiguous = (flags_ & kAmbiguous) != 0;
  out.headless = (flags_ & (kCut | kOrphan)) != 0;
  if ((flags_ & kOrphan) != 0 && outcome == Outcome::kComplete) out.outcome = Outcome::kIncomplete;
  if ((flags_ & kCut) != 0) out.outcome = Outcome::kCensored;
  out.end_step = out.own_step = static_cast<std::uint32_t>(units_.size() - 1);
  const auto& end = *units_.back();
  out.direction = topology_.points[end.point].direction;
  out.end_ns = out.last_ns = end.ts_ns;
  if (topology_.points[end.point].output) out.last_out_ns = end.ts_ns;
  if (out.outcome == Outcome::kComplete) describe_critical_path(out);
  if (out.outcome == Outcome::kCensored && (flags_ & kAtEnd) != 0) describe_inside(out);
  // Ambiguities are found by the steps.
  if (describes_steps_ && (out.ambiguous || observer_.wants_steps_of(out)))
    describe_steps(is_plain, out);
  observer_.on_journey(out);
}

std::uint32_t OutputJourneys::count_pieces() {
  pieces_.start();
  make_room_for_parents();
  for (const auto* const unit : units_)
    pieces_.add(unit->point, repeat_of(*unit), parents_of(*unit));
  return pieces_.most();
}

// Steps have spans of parents_, so it must not move while it is filled.
void OutputJourneys::make_room_for_parents() {
  std::size_t links = 0;
  for (const auto* const unit : units_) links += unit->parent_count;
  parents_.clear();
  parents_.reserve(links);
}

// The parents that are steps of the journey.
std::span<const std::uint32_t> OutputJourneys::parents_of(const Unit& unit) {
  const auto first = parents_.size();
  for (const auto* parent : unit.all_parents())
    if (const auto step = step_of(*parent); step != kNoStep) parents_.push_back(step);
  return std::span(parents_).subspan(first);
}

// Follows the way of the byte that came first, from the end back.
void OutputJourneys::describe_critical_path(Journey& out) {
  critical_path_.clear();
  for (auto step = out.end_step; pasts_[step].decisive != kNoStep;) {
    const auto& to = *units_[step];
    step = pasts_[step].decisive;
    const auto& from = *units_[step];
    const bool first = pasts_[step].decisive == kNoStep;
    critical_path_.push_back({.place = *topology_.points[from.point].place,
                              .ns = to.ts_ns - (first ? from.entered_ns : from.ts_ns),
                              .left_ns = to.ts_ns,
                              .entered_by = from.tid,
                              .left_by = to.tid});
  }
  out.critical_path = critical_path_;
}

void OutputJourneys::describe_inside(Journey& out) {
  inside_.clear();
  for (const auto* const unit : units_)
    if (unit->is(kAtEnd))
      inside_.push_back({*topology_.points[unit->point].place, unit->entered_ns});
  out.inside = inside_;
  out.inside_until_ns = end_ns_;
}

void OutputJourneys::describe_steps(bool is_plain, Journey& out) {
  make_room_for_parents();
  if (steps_.size() < units_.size()) steps_.resize(units_.size());
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const auto& unit = *units_[i];
    const auto earlier = repeat_of(unit);
    steps_[i] = {unit.ts_ns,
                 unit.entered_ns,
                 unit.seq,
                 unit.tid,
                 unit.stream,
                 unit.point,
                 is_plain ? earlier != kNoStep : pieces_.is_again(i),
                 unit.is(kAtEnd),
                 earlier,
                 {unit.values, topology_.points[unit.point].values},
                 parents_of(unit)};
  }
  out.steps = std::span(steps_).first(units_.size());
  if (out.ambiguous) out.set_ambiguities(store_.ambiguities().describe(units_));
}

}  // namespace sojourn::journeys
