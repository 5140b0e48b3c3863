#include "analysis/journeys/assemble/event_correlator.h"

#include <algorithm>
#include <deque>
#include <span>
#include <vector>

#include "analysis/journeys/assemble/input_journeys.h"
#include "analysis/journeys/assemble/late_events.h"
#include "analysis/journeys/assemble/loop_inputs.h"
#include "analysis/journeys/assemble/missing_parents.h"
#include "analysis/journeys/assemble/output_journeys.h"
#include "analysis/journeys/assemble/saturating_add.h"
#include "analysis/journeys/assemble/unit_lifecycle.h"
#include "analysis/journeys/match/ambiguity_check.h"
#include "analysis/journeys/match/evicted_units.h"
#include "analysis/journeys/match/harq_receptions.h"
#include "analysis/journeys/match/match.h"
#include "analysis/journeys/match/matcher.h"
#include "analysis/journeys/match/mixed_senders.h"
#include "analysis/journeys/match/origins.h"
#include "analysis/journeys/units/unit_store.h"

namespace sojourn::journeys {
namespace {

// The RNTIs of LTE and NR for paging and for system information.
constexpr std::uint64_t kFirstBroadcast = 0xfffe;
constexpr std::uint64_t kLastBroadcast = 0xffff;
// The longest time between the filling of a block and the removal of a unit from it.
constexpr std::uint64_t kLostBeforeNs = 1'000'000'000;

bool is_broadcast(const Unit& unit, const PointPlan& plan) {
  if (!plan.broadcast) return false;
  const auto whom = unit.values[*plan.broadcast];
  return kFirstBroadcast <= whom && whom <= kLastBroadcast;
}

class EventCorrelatorImpl final : public EventCorrelator {
 public:
  explicit EventCorrelatorImpl(const CorrelatorContext& around)
      : topology_(around.topology),
        rules_(around.rules),
        marks_(around.marks),
        groups_(marks_.groups),
        observer_(around.observer),
        places_(around.places),
        turn_(around.turn),
        losses_(around.losses),
        totals_(around.totals),
        late_(topology_),
        loops_(topology_),
        store_(topology_),
        evicted_units_(topology_, store_),
        mixed_senders_(topology_, store_, totals_, InputJourneys::doubt),
        harq_receptions_(topology_, store_, evicted_units_),
        matcher_(topology_, store_, evicted_units_, mixed_senders_, harq_receptions_),
        input_journeys_(topology_, rules_, store_, observer_, around.journeys,
                        [this](auto from_ns, auto to_ns, auto direction) {
                          return losses_.between(from_ns, to_ns, direction);
                        }),
        output_journeys_(topology_, store_, observer_, around.journeys),
        missing_parents_(topology_, rules_, marks_.open_ns, store_, losses_, loops_, totals_),
        lifecycle_(topology_, rules_, marks_.open_ns, observer_, places_, store_, evicted_units_,
                   mixed_senders_, harq_receptions_, input_journeys_, output_journeys_, losses_,
                   totals_),
        ambiguity_check_(topology_, marks_.open_ns, losses_, lifecycle_.longest_stays()) {
    for (const auto& plan : topology_.points)
      hashes_.resize(std::max(hashes_.size(), plan.inserts.size()));
  }

  void process(const model::EventView& event, const PointPlan& plan) override {
    expire(event.ts_ns);
    if (!late_.empty()) [[unlikely]]
      process_beside_late(event);
    else if (!take(event, plan, MatchAttempt::kFirst))
      begin_late(event);
    const auto in_memory = store_.in_memory();
    if (in_memory > peak_units_) [[unlikely]]
      peak_units_ = in_memory;
    if (in_memory > rules_.max_units) {
      ++totals_.crowded;
      lifecycle_.make_room();
    }
  }

  void pass(const model::EventView& event, const PointPlan& plan) override {
    if (!late_.empty()) [[unlikely]]
      end_late(event.ts_ns);
    ++serial_;
    const bool repeats =
        plan.harq.latest && !plan.harq.round_is_id && plan.harq.repeats(event.values);
    if (!repeats) matcher_.pass(event.tid, serial_);
  }

  // Usually no deadline has passed. Each kind of deadline remembers its earliest one.
  void expire(std::uint64_t now_ns) override {
    if (!late_.empty()) end_late(now_ns);
    set_now(now_ns);
  }

  void doubt_numbers() override { matcher_.numbering().doubt(); }

  void finish(const PointHistory& reach, std::uint64_t end_ns) override {
    if (!late_.empty()) {
      while (!late_.empty()) end_oldest_late();
      places_.end_wait();
    }
    turn_ = {turn_.position, UINT64_MAX, Turn::Phase::kOutputs};
    missing_parents_.explain(UINT64_MAX);
    while (!deferred_.empty()) emit_deferred();
    lifecycle_.find_inside(reach, end_ns);
    output_journeys_.set_end(end_ns);
    turn_.phase = Turn::Phase::kInputs;
    input_journeys_.finish(end_ns);
    turn_.phase = Turn::Phase::kUnits;
    lifecycle_.finish(end_ns);
    totals_.peak_units += peak_units_;
    totals_.mixed_senders |= mixed_senders_.are_mixed();
    const auto& differ = matcher_.lengths_differ();
    for (std::size_t pair = 0; pair < differ.size(); ++pair)
      if (differ[pair]) totals_.lengths_differ[pair] = true;
  }

 private:
  enum class MatchAttempt : std::uint8_t { kFirst, kAgain, kLast };
  struct Due {
    Unit* unit = nullptr;
    std::uint64_t due_ns = 0;
  };

  std::uint16_t group_of(std::uint32_t stream) const {
    if (stream < groups_.size()) return groups_[stream];
    return 0;
  }

  // While an event waits, place changes are held back, so that they are reported in order of time.
  void begin_late(const model::EventView& event) {
    late_.add(event);
    places_.begin_wait();
  }
  void process_beside_late(const model::EventView& event) {
    late_.end_before(event, [this](const auto& late) { take_last(late); });
    if (late_.has_parent_of(event) || !take_late(event, MatchAttempt::kFirst))
      late_.add(event);
    else
      late_.try_again(event.point, [this](const auto& late) { return take_again(late); });
    if (late_.empty()) places_.end_wait();
  }
  // Each late event goes on without a parent at the time when its wait is over.
  void end_late(std::uint64_t now_ns) {
    while (!late_.empty() && late_.oldest_ns() + rules_.late_ns < now_ns) {
      set_now(std::max(now_ns_, late_.oldest_ns() + rules_.late_ns));
      end_oldest_late();
    }
    if (late_.empty()) places_.end_wait();
  }
  void set_now(std::uint64_t now_ns) {
    now_ns_ = now_ns;
    turn_.now_ns = now_ns;
    input_journeys_.set_now(now_ns);
    lifecycle_.set_now(now_ns);
    if (now_ns >= endings_due_ns_) expire_endings();
    turn_.phase = Turn::Phase::kUnits;
    lifecycle_.expire();
  }

  // Returns whether the event was taken. An event that finds no parent has to wait a little for
  // one. This and its parts are inlined twice, for events as they come and for late ones: a call
  // for each part would take longer than some of them.
  [[gnu::always_inline]] bool take(const model::EventView& event, const PointPlan& plan,
                                   MatchAttempt turn) {
    turn_.phase = Turn::Phase::kEvent;
    auto& unit = *store_.create(event, ++serial_, group_of(event.stream));
    store_.retain(&unit);
    auto* hash = hashes_.data();
    for (const auto& use : plan.inserts) *hash++ = store_.prefetch_key(use, unit);
    if (plan.harq.latest) store_.prefetch_key(*plan.harq.latest, unit);
    matcher_.match(unit, match_, turn == MatchAttempt::kLast);
    ambiguity_check_.judge(unit, plan, match_);
    const bool takes = turn == MatchAttempt::kLast || !lacks_parent(unit, plan);
    if (takes) [[likely]] {
      if (turn != MatchAttempt::kFirst) put_behind_parents(unit);
      connect(unit, plan, totals_.points[event.point]);
      follow(unit, plan);
    }
    store_.release(&unit);
    return takes;
  }
  [[gnu::noinline]] bool take_late(const model::EventView& event, MatchAttempt turn) {
    return take(event, topology_.points[event.point], turn);
  }
  bool take_again(const model::EventView& event) { return take_late(event, MatchAttempt::kAgain); }
  void take_last(const model::EventView& event) { take_late(event, MatchAttempt::kLast); }

  bool lacks_parent(const Unit& unit, const PointPlan& plan) const {
    if (match_.missing) return true;
    return match_.relation == Relation::kNothing && !plan.pairs.empty() && !plan.control &&
           !is_broadcast(unit, plan) && !loops_.is(unit, plan);
  }

  void put_behind_parents(Unit& unit) const {
    for (const auto* parent : match_.parents) unit.ts_ns = std::max(unit.ts_ns, parent->ts_ns);
    unit.entered_ns = unit.ts_ns;
  }

  // Ties the unit to its parents and says what kind of unit it is.
  [[gnu::always_inline]] void connect(Unit& unit, const PointPlan& plan, PointTotals& counts) {
    if (match_.repeat_of != nullptr) [[unlikely]]
      store_.set_repeat(&unit, match_.repeat_of);
    if (match_.parents.empty()) [[unlikely]] {
      if (plan.control || is_broadcast(unit, plan)) unit.set(kControl);
    } else {
      store_.set_parents(&unit, match_.parents);
      if (plan.block.comes_out) find_origin(unit, plan);
      const auto is_control = [](const Unit* parent) { return parent->is(kControl); };
      if (plan.control || std::ranges::all_of(match_.parents, is_control)) unit.set(kControl);
    }
    if (unit.is(kControl)) ++counts.control;
    if (!match_.is_plain()) connect_otherwise(unit, plan, counts);
    if (plan.loop != 0 && !match_.parents.empty()) link_rounds(unit, plan, counts);
    for (auto* const parent : match_.parents) {
      if (parent->is(kListed)) [[likely]]
        store_.add_child(parent, &unit, match_.bytes);
      missing_parents_.note_wait(unit.point, unit.ts_ns - parent->ts_ns);
    }
  }

  // Handles a unit that is not simply what its parents became. Each case is one of
  // Match::is_plain().
  void connect_otherwise(Unit& unit, const PointPlan& plan, PointTotals& counts) {
    if (match_.doubts != 0) {
      store_.ambiguities().note(unit, {.reasons = match_.doubts,
                                       .alternatives = match_.alternatives,
                                       .more_fit = match_.more_fit});
      ++counts.ambiguous;
    }
    if (match_.relation == Relation::kRepeat) {
      connect_repeat(unit, plan, counts);
    } else if (match_.repeat_of != nullptr) {
      ++counts.repeats;
      if (!match_.repeat_of->is(kLeft)) lifecycle_.give_way(match_.repeat_of);
    }
    for (auto* const copy : match_.copies) {
      ++totals_.points[copy->point].repeats;
      lifecycle_.give_way(copy);
    }
    if (match_.missing) {
      unit.set(kMissing);
      if (!plan.drop) ++totals_.missing_pieces;
      missing_parents_.add(unit, now_ns_);
    }
    if (match_.relation == Relation::kNothing && !unit.is(kControl) &&
        (!plan.input || lacks_rounds(unit, plan)) && !loops_.note(unit, plan)) {
      unit.set(kHeadless);
      missing_parents_.add(unit, now_ns_);
    }
    if (match_.rivals != nullptr || match_.unsure) lifecycle_.note_rivals(unit, match_);
  }

  // Finds the unit that was put into the block. A control unit has none. If no unit in the block
  // matches and events were lost at about that time, the matching event is taken for lost.
  void find_origin(Unit& unit, const PointPlan& plan) {
    if (unit.parent_count != 1) return;
    const auto origin = plan.control ? Origin() : origin_of(unit, topology_);
    const auto since_ns = unit.ts_ns - std::min(unit.ts_ns, kLostBeforeNs);
    const bool lost = origin.missing && losses_.between(since_ns, unit.ts_ns, plan.direction);
    if (plan.control || lost || origin.unit != nullptr) store_.set_origin(&unit, origin.unit);
    if (!lost) return;
    unit.set(kHeadless);
    missing_parents_.add(unit, now_ns_);
  }

  // The earlier rounds of its reception were not seen.
  bool lacks_rounds(const Unit& unit, const PointPlan& plan) const {
    if (!has_round(unit, plan)) return false;
    return match_.done == nullptr ||
           losses_.between(match_.done->ts_ns, unit.ts_ns, plan.direction);
  }

  void link_rounds(Unit& unit, const PointPlan& plan, PointTotals& counts) {
    if (match_.repeat_of != nullptr) return;
    auto* const earlier = loops_.round_before(unit, plan, match_.parents.front());
    if (earlier == nullptr) return;
    store_.set_repeat(&unit, earlier);
    ++counts.repeats;
  }

  void connect_repeat(Unit& unit, const PointPlan& plan, PointTotals& counts) {
    ++counts.repeats;
    auto* const earlier = match_.repeat_of;
    if (!plan.input || earlier == nullptr) {
      unit.set(kAgain);
      return;
    }
    // The same unit arrives at an input again. Its stay goes on, and the earlier arrival is
    // finished.
    unit.entered_ns = earlier->entered_ns;
    if (earlier->is(kLeft)) return;
    // A unit that arrived before the open mark is counted from here on.
    if (earlier->is(kInside) && !earlier->is(kUncounted)) unit.set(kInside);
    earlier->clear(kInside);
    lifecycle_.depart(earlier);
  }

  // Continues the journeys of the unit. Its parents leave, and it waits in the place that it
  // entered.
  [[gnu::always_inline]] void follow(Unit& unit, const PointPlan& plan) {
    const bool anchored_at_input = plan.anchored_at_input;
    // The acknowledgement of a unit from before the start is not a packet of its own.
    const bool starts = match_.relation == Relation::kNothing && !unit.is(kControl) && !plan.ack;
    if (anchored_at_input && starts) {
      input_journeys_.begin(&unit);
    } else if (anchored_at_input && !match_.parents.empty()) {
      input_journeys_.inherit(&unit, match_.parents, match_.has_bytes ? &match_.bytes : nullptr);
    }
    leave_parents(unit, plan);
    if (anchored_at_input && plan.output) input_journeys_.reached_output(unit);
    if (anchored_at_input && plan.drop) input_journeys_.dropped(unit);
    if (!anchored_at_input && (plan.output || plan.drop) && !unit.is(kControl))
      end_backward(&unit, plan.drop);
    if (plan.place || plan.harq.latest) [[likely]]
      lifecycle_.enter(&unit, plan, hashes_);
    if (plan.numbering.waits) matcher_.numbering().add(unit, plan);
  }

  [[gnu::always_inline]] void leave_parents(const Unit& unit, const PointPlan& plan) {
    const auto relation = match_.relation;
    const bool samples = relation == Relation::kTakes || relation == Relation::kPiece ||
                         relation == Relation::kBranch;
    const bool leaves = relation == Relation::kTakes || match_.all_left;
    for (auto* const parent : match_.parents) {
      if (samples && lifecycle_.reports_stays_of(*parent)) report_stay(*parent, unit, plan);
      if (leaves && !parent->is(kLeft)) lifecycle_.leave(parent, unit.ts_ns);
      if (plan.ack || plan.drop) end_parent(parent, unit, plan);
    }
  }

  void end_parent(Unit* parent, const Unit& unit, const PointPlan& plan) {
    if (plan.ack) input_journeys_.acknowledged(*parent, unit.ts_ns);
    if (parent->is(kAwaitsAck)) lifecycle_.acknowledge(parent);
    // A unit that was dropped is no parent any more, whichever ids fit later.
    if (plan.drop && match_.relation == Relation::kTakes) lifecycle_.retire(parent);
  }

  void report_stay(const Unit& parent, const Unit& child, const PointPlan& plan) {
    observer_.on_stay({.pair = plan.pair_with(parent.point),
                       .entered_ns = parent.entered_ns,
                       .left_ns = child.ts_ns,
                       .entered_by = parent.tid,
                       .left_by = child.tid,
                       .values = {child.values, plan.values},
                       .entered_values = {parent.values, topology_.points[parent.point].values}});
  }

  void end_backward(Unit* unit, bool drop) {
    if (output_journeys_.emit_clean(unit, drop ? Outcome::kDropped : Outcome::kComplete)) return;
    store_.retain(unit);
    deferred_.push_back({unit, now_ns_ + rules_.linger_ns});
  }

  void emit_deferred() {
    auto* const unit = deferred_.front().unit;
    deferred_.pop_front();
    const bool drop = topology_.points[unit->point].drop;
    output_journeys_.emit(std::span(&unit, 1), drop ? Outcome::kDropped : Outcome::kComplete);
    store_.release(unit);
  }

  void end_oldest_late() {
    PointId ended = 0;
    late_.end_oldest([&](const auto& late) {
      take_last(late);
      ended = late.point;
    });
    // Events that waited for this one need not wait longer.
    if (!late_.empty())
      late_.try_again(ended, [this](const auto& late) { return take_again(late); });
  }

  void expire_endings() {
    turn_.phase = Turn::Phase::kOutputs;
    missing_parents_.explain(now_ns_);
    evicted_units_.expire(now_ns_);
    mixed_senders_.expire(now_ns_);
    while (!deferred_.empty() && deferred_.front().due_ns < now_ns_) emit_deferred();
    turn_.phase = Turn::Phase::kInputs;
    input_journeys_.expire();
    // Units that begin to wait from now on are not due before that.
    endings_due_ns_ = std::min(
        saturating_add(now_ns_, std::min(rules_.settle_ns, rules_.linger_ns)),
        std::min(saturating_add(now_ns_, rules_.expiry_ns), input_journeys_.next_due_ns()));
    if (!missing_parents_.empty())
      endings_due_ns_ = std::min(endings_due_ns_, missing_parents_.next_due_ns());
    if (!deferred_.empty()) endings_due_ns_ = std::min(endings_due_ns_, deferred_.front().due_ns);
  }

  const Topology& topology_;
  const Rules& rules_;
  const CaptureMarks& marks_;
  std::span<const std::uint16_t> groups_;
  Observer& observer_;
  PlaceChangeSorter& places_;
  Turn& turn_;
  const Losses& losses_;
  Totals& totals_;
  std::uint64_t now_ns_ = 0;
  std::uint64_t endings_due_ns_ = 0;
  std::uint64_t serial_ = 0;
  std::uint64_t peak_units_ = 0;
  LateEvents late_;
  LoopInputs loops_;
  UnitStore store_;
  EvictedUnits evicted_units_;
  MixedSenders mixed_senders_;
  HarqReceptions harq_receptions_;
  Matcher matcher_;
  InputJourneys input_journeys_;
  OutputJourneys output_journeys_;
  MissingParents missing_parents_;
  UnitLifecycle lifecycle_;
  AmbiguityCheck ambiguity_check_;
  Match match_;
  std::deque<Due> deferred_;
  std::vector<std::uint64_t> hashes_;  // of the keys of the event's unit
};

}  // namespace

std::unique_ptr<EventCorrelator> EventCorrelator::create(const CorrelatorContext& around) {
  return std::make_unique<EventCorrelatorImpl>(around);
}

}  // namespace sojourn::journeys
