#include "analysis/journeys/rebuilder.h"

#include <algorithm>
#include <span>
#include <utility>

#include "analysis/journeys/assemble/event_correlator.h"
#include "analysis/journeys/assemble/point_history.h"
#include "analysis/journeys/assemble/tie_breaker.h"
#include "analysis/journeys/match/losses.h"
#include "analysis/journeys/place_change_sorter.h"

namespace sojourn::journeys {
namespace {

// Any event from before the open mark may be missing, though some are in the trace.
std::vector<LossSpan> known_losses(const CaptureMarks& marks) {
  auto losses = marks.losses;
  if (marks.open_ns != 0) losses.push_back({0, marks.open_ns - 1});
  return losses;
}

Rules with_units_shared(Rules rules, std::uint32_t shares) {
  rules.max_units = std::max<std::size_t>(rules.max_units / shares, 1);
  return rules;
}

}  // namespace

// Counts events, puts those of one instant in order, and gives each to the correlator that has its
// unit.
class Rebuilder::State {
 public:
  State(std::shared_ptr<const Topology> topology, const Rules& rules, CaptureMarks marks,
        Observer& observer, std::optional<Partition> only)
      : only_(only),
        shared_(std::move(topology)),
        topology_(*shared_),
        points_(topology_.points),
        rules_(with_units_shared(rules, only ? only->shares : 1)),
        marks_(std::move(marks)),
        losses_(marks_.open_ns, known_losses(marks_), marks_.first_seqs),
        tie_breaker_(topology_),
        history_(topology_, marks_.open_ns),
        observer_(observer),
        places_(observer, rules_.late_ns) {
    totals_.points.resize(topology_.points.size());
    totals_.lengths_differ.resize(topology_.pairs.size(), false);
    const auto count = only ? only->end - only->begin : 1;
    for (std::uint32_t i = 0; i < count; ++i)
      correlators_.push_back(EventCorrelator::create(
          {topology_, rules_, marks_, losses_, journeys_, totals_, observer, places_, turn_}));
    if (!only_) sole_ = correlators_.front().get();
  }

  void consume(const model::EventBatch& events) {
    observer_.on_events(events);
    tie_breaker_.consume(events, *this);
  }

  void finish() {
    tie_breaker_.release(*this);
    const auto end_ns = std::max(totals_.last_ns, marks_.close_ns);
    ++turn_.position;
    for (const auto& correlator : correlators_) correlator->finish(history_, end_ns);
  }

  // Called by the TieBreaker.
  void note(const model::EventView& event) {
    const auto lost = static_cast<std::uint64_t>(losses_.note(event));
    if (lost == 0) return;
    totals_.lost += lost;
    for (const auto& correlator : correlators_) correlator->doubt_numbers();
  }
  [[gnu::always_inline]] void process(const model::EventView& event) {
    turn_.position = ++totals_.events;
    if (totals_.first_ns == 0) [[unlikely]]
      totals_.first_ns = event.ts_ns;
    totals_.last_ns = event.ts_ns;
    if (event.point >= points_.size()) [[unlikely]] {
      ++totals_.unknown_points;
      return;
    }
    history_.note(event);
    const auto& plan = points_[event.point];
    auto& counts = totals_.points[event.point];
    ++counts.events;
    if (event.values.size() != plan.values) [[unlikely]] {
      ++counts.malformed;
      return;
    }
    if (!plan.carries_units) return;
    if (plan.unread && (event.values[plan.unread->field] & plan.unread->needed_bits) != 0) {
      ++counts.unread;
      losses_.note_unknown(event.ts_ns);
      return;
    }
    if (sole_ != nullptr)
      sole_->process(event, plan);
    else
      divide(event, plan);
  }

  const Turn& turn() const { return turn_; }
  const Topology& topology() const { return topology_; }
  const Totals& totals() const { return totals_; }

 private:
  static constexpr auto kNobody = SIZE_MAX;  // the event is another rebuilder's

  void divide(const model::EventView& event, const PointPlan& plan) {
    const auto owner = owner_of(event, plan);
    // A rebuilder of a whole direction gives up units at the same times as one of all directions.
    if (owner == kNobody && only_->shares == 1) correlators_.front()->expire(event.ts_ns);
    for (std::size_t at = 0; at < correlators_.size(); ++at)
      if (at == owner)
        correlators_[at]->process(event, plan);
      else
        correlators_[at]->pass(event, plan);
  }

  // The index of the correlator that has the event.
  std::size_t owner_of(const model::EventView& event, const PointPlan& plan) const {
    if (plan.direction != only_->direction) return kNobody;
    return only_->shares == 1 ? 0 : share_of(event, plan) - only_->begin;
  }

  std::size_t share_of(const model::EventView& event, const PointPlan& plan) const {
    constexpr std::uint64_t kSpread = 0x9e37'79b9'7f4a'7c15;  // 2^64 by the golden ratio
    std::uint64_t hash = 0;
    for (const auto field : plan.owner_ids) hash = (hash ^ event.values[field]) * kSpread;
    return (hash >> 32) * only_->shares >> 32;
  }

  std::optional<Partition> only_;
  std::shared_ptr<const Topology> shared_;
  const Topology& topology_;
  std::span<const PointPlan> points_;
  Rules rules_;
  CaptureMarks marks_;
  Totals totals_;
  Turn turn_;
  std::uint64_t journeys_ = 0;
  Losses losses_;
  TieBreaker tie_breaker_;
  PointHistory history_;
  Observer& observer_;
  PlaceChangeSorter places_;
  std::vector<std::unique_ptr<EventCorrelator>> correlators_;
  EventCorrelator* sole_ = nullptr;  // the only one, where it has all events
};

Rebuilder::Rebuilder(std::unique_ptr<State> state) : state_(std::move(state)) {}
Rebuilder::Rebuilder(Rebuilder&&) noexcept = default;
Rebuilder& Rebuilder::operator=(Rebuilder&&) noexcept = default;
Rebuilder::~Rebuilder() = default;

Result<Rebuilder> Rebuilder::create(const model::Schema& schema, const Rules& rules,
                                    CaptureMarks marks, Observer& observer,
                                    std::optional<Partition> only) {
  auto topology = Topology::derive(schema, rules);
  if (!topology) return std::unexpected(std::move(topology).error());
  return create_for(std::make_shared<const Topology>(std::move(*topology)), rules, std::move(marks),
                    observer, only);
}

Rebuilder Rebuilder::create_for(std::shared_ptr<const Topology> topology, const Rules& rules,
                                CaptureMarks marks, Observer& observer,
                                std::optional<Partition> only) {
  return Rebuilder(
      std::make_unique<State>(std::move(topology), rules, std::move(marks), observer, only));
}

void Rebuilder::consume(const model::EventBatch& events) {
  state_->consume(events);
}
void Rebuilder::finish() {
  state_->finish();
}
const Turn& Rebuilder::turn() const {
  return state_->turn();
}
const Topology& Rebuilder::topology() const {
  return state_->topology();
}
const Totals& Rebuilder::totals() const {
  return state_->totals();
}

}  // namespace sojourn::journeys
