#include "analysis/journeys/rebuilder.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "analysis/journeys/backward.h"
#include "analysis/journeys/forward.h"
#include "analysis/journeys/losses.h"
#include "analysis/journeys/matcher.h"
#include "analysis/journeys/store.h"

namespace sojourn::journeys {
namespace {

// How much longer than anything seen before a unit must have waited to be taken for a left-over.
constexpr std::uint64_t kStaleFactor = 4;
constexpr std::uint64_t kStaleFloor_ns = 1'000'000'000;
constexpr std::uint64_t kExcuseFactor = 8;
constexpr std::uint64_t kExcuseFloor_ns = 1'000'000'000;
constexpr std::uint64_t kEnoughSamples = 100;
constexpr int kLongestLoop = 64;
// Of those that wait for a late parent, at each event.
constexpr int kMostTries = 64;
// Of LTE and NR: for paging and for system information.
constexpr std::uint64_t kFirstBroadcast = 0xfffe;
constexpr std::uint64_t kLastBroadcast = 0xffff;

struct Longest {
  std::uint64_t samples = 0;
  std::uint64_t longest_ns = 0;

  void note(std::uint64_t span_ns) {
    ++samples;
    longest_ns = std::max(longest_ns, span_ns);
  }
  bool known() const { return samples >= kEnoughSamples; }
};

std::uint64_t later(std::uint64_t ts_ns, std::uint64_t by_ns) {
  return by_ns < UINT64_MAX - ts_ns ? ts_ns + by_ns : UINT64_MAX;
}

// An event that waits for a late parent.
struct Held {
  model::EventView event;
  std::vector<std::uint64_t> values;
};

}  // namespace

class Rebuilder::State {
 public:
  State(Topology derived, const Rules& rules, Marks marks, Observer& observer)
      : topology_(std::move(derived)),
        rules_(rules),
        marks_(std::move(marks)),
        observer_(observer),
        store_(topology_),
        matcher_(topology_, rules_, store_),
        forward_(topology_, rules_, store_, observer, journeys_,
                 [this](auto from_ns, auto to_ns) { return losses_.between(from_ns, to_ns); }),
        backward_(topology_, store_, observer, journeys_),
        losses_(marks_.open_ns, known_losses(marks_), marks_.first_seqs),
        stays_(topology_.places.size()),
        waits_(topology_.points.size()),
        begun_(topology_.points.size(), 0),
        loop_inputs_(topology_.loops + std::size_t{1}),
        whole_from_(topology_.points.size(), 0) {
    totals_.points.resize(topology_.points.size());
  }

  void consume(const model::EventBatch& events) {
    const auto stamps = events.ts_ns();
    for (std::size_t row = 0; row < events.size(); ++row) {
      const auto point = events.point()[row];
      if (point < topology_.points.size() && !topology_.points[point].of_target) continue;
      totals_.lost += static_cast<std::uint64_t>(losses_.note(events[row]));
      if (!held_.empty() && held_.ts_ns().front() != stamps[row]) release_held();
      const bool alone = held_.empty() && row + 1 < events.size() && stamps[row + 1] != stamps[row];
      if (alone)
        process(events[row]);
      else
        held_.append(events[row]);
    }
  }

  void finish() {
    release_held();
    const auto end_ns = std::max(totals_.last_ns, marks_.close_ns);
    while (!late_.empty()) take_late();
    explain_headless(UINT64_MAX);
    while (!deferred_.empty()) emit_deferred();
    find_inside(end_ns);
    backward_.set_end(end_ns);
    forward_.finish(end_ns);
    for (auto id = waiting_.oldest; id != kNone; id = waiting_.oldest) give_up(id, end_ns, true);
    for (auto id = departed_.oldest; id != kNone; id = departed_.oldest) retire(id);
    totals_.lengths_differ = matcher_.lengths_differ();
  }

  const Topology& topology() const { return topology_; }
  const Totals& totals() const { return totals_; }

 private:
  enum class Turn : std::uint8_t { kFirst, kAgain, kLast };
  struct Headless {
    UnitId unit = kNone;
    std::uint64_t due_ns = 0;
  };

  std::uint16_t group_of(std::uint32_t stream) const {
    return stream < marks_.groups.size() ? marks_.groups[stream] : std::uint16_t{0};
  }

  // Before the open mark any event may be missing, though some are there.
  static std::vector<LossSpan> known_losses(const Marks& marks) {
    auto losses = marks.losses;
    if (marks.open_ns != 0) losses.push_back({0, marks.open_ns - 1});
    return losses;
  }

  // Where a flight recorder's threads hold different spans, some events are from before the open
  // mark. From when on a point's hits are all there is then known of each point for itself: since
  // the first event of each of the threads that hit it.
  void note_reach(const model::EventView& event) {
    const auto first = first_of_stream_.try_emplace(event.stream, event.ts_ns).first->second;
    auto& whole_from = whole_from_[event.point];
    whole_from = std::max(whole_from, first);
  }

  // What did not leave its place is inside at the end, if it would have been seen to leave. Nothing
  // is said where events were lost since, nor of what came before the open mark and may have left
  // in an event that was written over.
  void find_inside(std::uint64_t end_ns) {
    std::vector<std::uint64_t> leaves_seen_from(topology_.points.size(), 0);
    for (const auto& pair : topology_.pairs)
      leaves_seen_from[pair.parent] =
          std::max(leaves_seen_from[pair.parent], whole_from_[pair.child]);
    for (auto id = waiting_.oldest; id != kNone; id = store_[id].next) {
      auto& unit = store_[id];
      const auto seen_from = leaves_seen_from[unit.point];
      const bool reaches =
          unit.ts_ns >= marks_.open_ns || (seen_from != 0 && unit.ts_ns >= seen_from);
      if (unit.is(kInside) && reaches &&
          !losses_.between(std::max(unit.ts_ns, marks_.open_ns), end_ns))
        unit.set(kAtEnd);
    }
  }

  // Events of one instant: those that enter the pipeline earlier come first.
  void release_held() {
    order_.resize(held_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    if (held_.size() > 1) {
      std::ranges::stable_sort(order_, {}, [this](std::size_t row) {
        const auto point = held_.point()[row];
        return point < topology_.points.size() ? topology_.points[point].rank : 0;
      });
    }
    for (const auto row : order_) process(held_[row]);
    held_.clear();
  }

  void process(const model::EventView& event) {
    ++totals_.events;
    if (totals_.first_ns == 0) totals_.first_ns = event.ts_ns;
    totals_.last_ns = event.ts_ns;
    if (event.point >= topology_.points.size()) {
      ++totals_.unknown_points;
      return;
    }
    has_before_ = has_before_ || event.ts_ns < marks_.open_ns;
    if (has_before_) note_reach(event);
    const auto& plan = topology_.points[event.point];
    auto& counts = totals_.points[event.point];
    ++counts.events;
    if (event.values.size() != plan.values) {
      ++counts.malformed;
      return;
    }
    if (!plan.carries_units) return;
    if (plan.unread && (event.values[*plan.unread] & plan.needed_bits) != 0) {
      ++counts.unread;
      losses_.note_unknown(event.ts_ns);
      return;
    }
    expire(event.ts_ns);
    if (!late_.empty()) end_waits(event);
    if (!take(event, Turn::kFirst))
      late_.push_back({event, {event.values.begin(), event.values.end()}});
    else if (!late_.empty())
      try_late(event.point);
    const auto in_memory = store_.in_memory();
    totals_.peak_units = std::max<std::uint64_t>(totals_.peak_units, in_memory);
    if (in_memory > rules_.max_units) make_room(event.ts_ns);
  }

  // Whether it was taken. What finds no parent is to wait a little for one: clocks of two threads
  // need not agree.
  bool take(const model::EventView& event, Turn turn) {
    const auto& plan = topology_.points[event.point];
    const auto id = store_.create(event, ++serial_, group_of(event.stream));
    store_.retain(id);
    matcher_.match(id, match_, turn == Turn::kLast);
    const bool takes = turn == Turn::kLast || !lacks_parent(store_[id], plan);
    if (takes) {
      if (turn != Turn::kFirst) put_behind_parents(store_[id]);
      connect(id, plan, totals_.points[event.point]);
      follow(id, plan);
    }
    store_.release(id);
    return takes;
  }

  bool lacks_parent(const Unit& unit, const PointPlan& plan) const {
    if (match_.missing) return true;
    return match_.relation == Relation::kNothing && !plan.pairs.empty() && !plan.control &&
           !is_broadcast(unit, plan) && !is_loop_input(unit);
  }

  void put_behind_parents(Unit& unit) {
    for (const auto parent : match_.parents)
      unit.ts_ns = std::max(unit.ts_ns, store_[parent].ts_ns);
    unit.entered_ns = unit.ts_ns;
  }

  bool feeds(PointId parent, PointId child) const {
    return std::ranges::any_of(topology_.points[child].pairs, [&](std::uint32_t pair) {
      return topology_.pairs[pair].parent == parent;
    });
  }

  // What a thread does later is no parent of what it did before. Where it might be taken for one,
  // what waits goes without. In what was imported nobody knows the thread: it is 0.
  void end_waits(const model::EventView& event) {
    if (event.tid == 0) return;
    for (auto late = late_.begin(); late != late_.end();) {
      if (late->event.tid != event.tid || !feeds(event.point, late->event.point)) {
        ++late;
        continue;
      }
      Held held = std::move(*late);
      late = late_.erase(late);
      held.event.values = held.values;
      take(held.event, Turn::kLast);
    }
  }

  // One of this point came: what waits may have waited for it, and others for that.
  void try_late(PointId came) {
    int tries = 0;
    came_.assign(1, came);
    while (!came_.empty()) {
      const auto parent = came_.back();
      came_.pop_back();
      for (auto late = late_.begin(); late != late_.end();) {
        if (!feeds(parent, late->event.point)) {
          ++late;
          continue;
        }
        if (++tries > kMostTries) return;
        late->event.values = late->values;
        if (take(late->event, Turn::kAgain)) {
          came_.push_back(late->event.point);
          late = late_.erase(late);
        } else {
          ++late;
        }
      }
    }
  }

  // Its time is over.
  void take_late() {
    Held late = std::move(late_.front());
    late_.pop_front();
    late.event.values = late.values;
    take(late.event, Turn::kLast);
  }

  // Ties the unit to its parents and says what kind of unit it is.
  void connect(UnitId id, const PointPlan& plan, PointTotals& counts) {
    if (!match_.parents.empty()) store_.set_parents(id, match_.parents);
    if (match_.repeat_of != kNone) store_.set_repeat(id, match_.repeat_of);
    auto& unit = store_[id];
    const auto is_control = [this](UnitId parent) { return store_[parent].is(kControl); };
    if (plan.control || (match_.parents.empty() && is_broadcast(unit, plan)) ||
        (!match_.parents.empty() && std::ranges::all_of(match_.parents, is_control)))
      unit.set(kControl);
    if (unit.is(kControl)) ++counts.control;
    if (match_.alternatives > 0) {
      unit.set(kAmbiguous);
      unit.alternatives = match_.alternatives;
      ++counts.ambiguous;
    }
    if (match_.relation == Relation::kRepeat) connect_repeat(id, plan, counts);
    if (match_.missing) {
      unit.set(kMissing);
      if (!plan.drop) ++totals_.missing_pieces;
      beheaded(id);
    }
    const bool repeats_unseen = plan.input && match_.relation == Relation::kNothing && plan.round &&
                                store_.values(unit)[*plan.round] != 0;
    if (match_.relation == Relation::kNothing && !unit.is(kControl) &&
        (!plan.input || repeats_unseen) && !begins_loop(unit, plan)) {
      unit.set(kHeadless);
      beheaded(id);
    }
    if (plan.loop != 0 && !match_.parents.empty()) link_rounds(id, plan, counts);
    for (const auto parent : match_.parents) {
      store_.add_child(parent, id, match_.bytes);
      waits_[unit.point].note(unit.ts_ns - store_[parent].ts_ns);
    }
  }

  bool is_broadcast(const Unit& unit, const PointPlan& plan) const {
    if (!plan.broadcast) return false;
    const auto whom = store_.values(unit)[*plan.broadcast];
    return kFirstBroadcast <= whom && whom <= kLastBroadcast;
  }

  // Nothing feeds a loop but itself, so what it begins with is learnt: the point whose events come
  // without a parent most often. Until that is plain, explain_headless() judges.
  bool begins_loop(const Unit& unit, const PointPlan& plan) {
    if (plan.loop == 0 || (plan.round && store_.values(unit)[*plan.round] != 0)) return false;
    const auto begun = ++begun_[unit.point];
    auto& most = loop_inputs_[plan.loop];
    if (!most || begun > begun_[*most]) most = unit.point;
    return *most == unit.point && begun >= kEnoughSamples;
  }

  bool is_loop_input(const Unit& unit) const {
    const auto& plan = topology_.points[unit.point];
    return plan.loop != 0 && loop_inputs_[plan.loop] == unit.point &&
           (!plan.round || store_.values(unit)[*plan.round] == 0);
  }

  // What comes to a loop's input again was there before: it is the next round of that.
  void link_rounds(UnitId id, const PointPlan& plan, PointTotals& counts) {
    if (loop_inputs_[plan.loop] != store_[id].point || match_.repeat_of != kNone) return;
    auto earlier = match_.parents.front();
    for (int turn = 0; turn < kLongestLoop; ++turn) {
      if (store_[earlier].point == store_[id].point) {
        store_.set_repeat(id, earlier);
        ++counts.repeats;
        return;
      }
      const auto before = store_.parents(store_[earlier]);
      if (before.empty()) return;
      earlier = before.front();
    }
  }

  void connect_repeat(UnitId id, const PointPlan& plan, PointTotals& counts) {
    ++counts.repeats;
    const auto earlier = match_.repeat_of;
    if (!plan.input || earlier == kNone) {
      store_[id].set(kAgain);
      return;
    }
    // The same unit arrives once more at an input: its stay goes on, and the earlier arrival is
    // not waited for.
    store_[id].entered_ns = store_[earlier].entered_ns;
    if (store_[earlier].is(kLeft)) return;
    if (store_[earlier].is(kInside)) {
      store_[earlier].clear(kInside);
      // One that came before the open mark is counted from here on: it is there.
      if (!store_[earlier].is(kBefore)) store_[id].set(kInside);
    }
    depart(earlier);
  }

  // Its journeys go on, its parents leave, and it waits in the place that it entered.
  void follow(UnitId id, const PointPlan& plan) {
    const bool by_input = rules_.anchor(plan.direction) == Anchor::kInput;
    // An acknowledgement of what was sent before the start is no packet of its own.
    const bool starts =
        match_.relation == Relation::kNothing && !store_[id].is(kControl) && !plan.ack;
    if (by_input && starts) {
      forward_.begin(id);
    } else if (by_input && !match_.parents.empty()) {
      forward_.inherit(id, match_.parents, match_.has_bytes ? &match_.bytes : nullptr);
    }
    leave_parents(id, plan);
    if (by_input && plan.output) forward_.reached_output(id);
    if (by_input && plan.drop) forward_.dropped(id);
    if (!by_input && (plan.output || plan.drop) && !store_[id].is(kControl))
      end_backward(id, plan.drop);
    if (plan.place || plan.repeats) enter(id, plan);
  }

  void leave_parents(UnitId id, const PointPlan& plan) {
    const auto relation = match_.relation;
    const auto ts_ns = store_[id].ts_ns;
    const bool samples = relation == Relation::kTakes || relation == Relation::kPiece ||
                         relation == Relation::kBranch;
    const bool leaves = relation == Relation::kTakes || match_.all_left;
    for (const auto parent : match_.parents) {
      const auto& unit = store_[parent];
      if (samples) tell_of_hop(unit, store_[id]);
      if (leaves && !unit.is(kLeft)) leave(parent, ts_ns);
      if (plan.ack) forward_.acknowledged(parent, ts_ns);
      if ((plan.ack || plan.drop) && store_[parent].is(kAwaitsAck)) acknowledge(parent);
    }
  }

  void tell_of_hop(const Unit& parent, const Unit& child) {
    const auto pair = topology_.pair_index(parent.point, child.point);
    observer_.on_hop(pair, parent.entered_ns, child.ts_ns);
    observer_.on_stay({.pair = pair,
                       .entered_ns = parent.entered_ns,
                       .left_ns = child.ts_ns,
                       .entered_by = parent.tid,
                       .left_by = child.tid,
                       .values = store_.values(child)});
  }

  void leave(UnitId id, std::uint64_t ts_ns) {
    auto& unit = store_[id];
    if (unit.is(kInside)) {
      unit.clear(kInside);
      const auto place = *topology_.points[unit.point].place;
      stays_[place].note(ts_ns - unit.entered_ns);
      if (!unit.is(kBefore)) observer_.on_leave(place, unit.entered_ns, ts_ns, true);
    }
    depart(id);
  }

  // Nobody waits for it any more; it is kept for late repeats (or its acknowledgement).
  void depart(UnitId id) {
    auto& unit = store_[id];
    unit.set(kLeft);
    forward_.left(id);
    if (!unit.is(kAwaitsAck)) {
      store_.unlink(waiting_, id);
      store_.append(departed_, id, now_ns_);
    }
    evicted_.clear();
    store_.mark_used(id, evicted_);
    for (const auto old : evicted_) retire(old);
  }

  void acknowledge(UnitId id) {
    forward_.unpin(id, kAwaitsAck);
    if (!store_[id].is(kLeft)) {
      leave(id, now_ns_);
      return;
    }
    store_.unlink(waiting_, id);
    store_.append(departed_, id, now_ns_);
  }

  void enter(UnitId id, const PointPlan& plan) {
    auto& unit = store_[id];
    store_.retain(id);
    store_.append(waiting_, id, now_ns_);
    unit.set(kListed);
    if (plan.place && !unit.is(kInside)) {
      unit.set(kInside);
      if (unit.ts_ns < marks_.open_ns)
        unit.set(kBefore);
      else
        observer_.on_enter(*plan.place, unit.ts_ns);
    }
    if (plan.awaits_ack) forward_.pin(id, kAwaitsAck);
    for (const auto& use : plan.inserts) {
      evicted_.clear();
      store_.insert(id, use, evicted_);
      for (const auto old : evicted_) retire(old);
      forget_stale(id, use);
    }
    if (!plan.repeats) return;
    const auto before = store_.replace(id, *plan.repeats);
    if (before != kNone) forward_.unpin(before, kLatestRound);
    if (!plan.input) forward_.pin(id, kLatestRound);
  }

  // A unit of the same key that has waited far longer than any before it was never seen to leave;
  // one at the same address is gone whenever another one is there.
  // Where units are gathered, others of the key are what it waits for.
  void forget_stale(UnitId id, const TableUse& use) {
    const auto& place = stays_[*topology_.points[store_[id].point].place];
    if (use.gathers || (!use.single && !place.known())) return;
    const auto limit_ns = use.single ? 0 : kStaleFactor * place.longest_ns + kStaleFloor_ns;
    const auto older = store_.older(store_[id].entries);  // the entry that was just made
    if (older == kNone) return;
    const auto stale = store_.unit_of(older);
    if (!use.single && now_ns_ - store_[stale].ts_ns <= limit_ns) return;
    ++totals_.expired_by_reuse;
    give_up(stale, now_ns_, false);
  }

  // A unit that left is kept a little; one that HARQ may still repeat, longer.
  void forget(UnitId id, std::uint64_t now_ns) {
    if (store_[id].is(kLatestRound) && now_ns - store_[id].ts_ns <= rules_.linger_ns) {
      store_.unlink(departed_, id);
      store_.append(departed_, id, now_ns);
    } else {
      retire(id);
    }
  }

  // Takes a unit out of tables and lists.
  void retire(UnitId id) {
    auto& unit = store_[id];
    if (!unit.is(kListed)) return;  // evicted from two tables at once
    unit.clear(kListed);
    const bool waits = !unit.is(kLeft) || unit.is(kAwaitsAck);
    forward_.unpin(id, kAwaitsAck);
    forward_.unpin(id, kLatestRound);
    store_.unlink(waits ? waiting_ : departed_, id);
    store_.remove(id);
    store_.release(id);
  }

  // A unit that was not seen to leave: where journeys are anchored at their output, it ends one.
  void give_up(UnitId id, std::uint64_t now_ns, bool at_end) {
    auto& unit = store_[id];
    if (!unit.is(kLeft)) {
      if (unit.is(kInside)) {
        unit.clear(kInside);
        if (!unit.is(kBefore))
          observer_.on_leave(*topology_.points[unit.point].place, unit.entered_ns, now_ns, false);
      }
      const auto& plan = topology_.points[unit.point];
      if (rules_.anchor(plan.direction) == Anchor::kOutput && !unit.is(kControl) &&
          !was_empty(unit, plan, now_ns, at_end)) {
        const bool lost = at_end || losses_.between(unit.ts_ns, now_ns);
        emit_unfinished(id, plan, now_ns, lost ? Outcome::kCensored : Outcome::kIncomplete);
        return;
      }
    }
    retire(id);
  }

  // A block that had its time, and that nothing was taken out of, had no packet in it.
  bool was_empty(const Unit& unit, const PointPlan& plan, std::uint64_t now_ns, bool at_end) {
    if (!plan.block || unit.children != kNone || losses_.between(unit.ts_ns, now_ns)) return false;
    const auto& place = stays_[*plan.place];
    const auto stay_ns = std::max(kExcuseFloor_ns, kExcuseFactor * place.longest_ns);
    if (at_end && (!place.known() || now_ns - unit.ts_ns <= stay_ns)) return false;
    ++totals_.points[unit.point].control;
    return true;
  }

  // Pieces that would have been put together are one journey.
  void emit_unfinished(UnitId id, const PointPlan& plan, std::uint64_t now_ns, Outcome outcome) {
    group_.assign(1, id);
    for (const auto& use : plan.inserts) {
      if (!use.gathers) continue;
      auto entry = store_.find(use, store_[id]).open;
      for (; entry != kNone; entry = store_.older(entry)) {
        const auto other = store_.unit_of(entry);
        if (other != id && store_[other].point == store_[id].point) group_.push_back(other);
      }
      break;
    }
    backward_.emit(group_, outcome);
    for (const auto member : group_) {
      auto& unit = store_[member];
      if (unit.is(kInside)) {
        unit.clear(kInside);
        if (!unit.is(kBefore)) observer_.on_leave(*plan.place, unit.entered_ns, now_ns, false);
      }
      retire(member);
    }
  }

  // Why a beginning was not seen is judged later, when losses around it are known.
  void beheaded(UnitId id) {
    store_.retain(id);
    headless_.push_back({id, store_[id].ts_ns + rules_.linger_ns});
  }

  void explain_headless(std::uint64_t now_ns) {
    while (!headless_.empty() && headless_.front().due_ns <= now_ns) {
      const auto id = headless_.front().unit;
      headless_.pop_front();
      auto& unit = store_[id];
      auto& counts = totals_.points[unit.point];
      if (unit.is(kHeadless) && is_loop_input(unit)) unit.clear(kHeadless);
      const bool cut = is_excused(unit);
      // What takes in units and had none was made inside, of control only. A drop that lacks pieces
      // lacks them for a reason, unless the start may have cut them off.
      const bool control = unit.is(kHeadless) && !cut && topology_.points[unit.point].container;
      const bool lacks = unit.is(kMissing) && (cut || !topology_.points[unit.point].drop);
      if (unit.is(kHeadless) || lacks) unit.set(cut ? kCut : kOrphan);
      if (unit.is(kHeadless)) ++(cut ? counts.cut : control ? counts.control : counts.orphans);
      unit.clear(kHeadless);
      unit.clear(kMissing);
      store_.release(id);
    }
  }

  // What was dropped for want of a piece waited for it as long as others did; it would be a pity to
  // excuse all drops of the first second.
  bool is_excused(const Unit& unit) const {
    const auto& wait = waits_[unit.point];
    auto reach_ns = rules_.expiry_ns;
    const bool wants_piece = topology_.points[unit.point].drop && !unit.is(kHeadless);
    if (wait.known())
      reach_ns = std::min(
          reach_ns, std::max(wants_piece ? 0 : kExcuseFloor_ns, kExcuseFactor * wait.longest_ns));
    const auto open_ns = marks_.open_ns != 0 ? marks_.open_ns : totals_.first_ns;
    if (unit.ts_ns < open_ns + reach_ns) return true;
    return losses_.between(unit.ts_ns - std::min(unit.ts_ns, reach_ns), unit.ts_ns);
  }

  void end_backward(UnitId id, bool drop) {
    if (backward_.emit_clean(id, drop ? Outcome::kDropped : Outcome::kComplete)) return;
    store_.retain(id);
    deferred_.push_back({id, now_ns_ + rules_.linger_ns});
  }

  void emit_deferred() {
    const auto id = deferred_.front().unit;
    deferred_.pop_front();
    const bool drop = topology_.points[store_[id].point].drop;
    backward_.emit(std::span(&id, 1), drop ? Outcome::kDropped : Outcome::kComplete);
    store_.release(id);
  }

  // Most events find that nothing is due: each kind remembers before when nothing can be.
  void expire(std::uint64_t now_ns) {
    now_ns_ = now_ns;
    forward_.set_now(now_ns);
    while (!late_.empty() && late_.front().event.ts_ns + rules_.late_ns < now_ns) take_late();
    if (now_ns >= endings_due_ns_) expire_endings();
    if (now_ns > departed_due_ns_) expire_departed();
    if (now_ns > waiting_due_ns_) expire_waiting();
  }

  void expire_endings() {
    explain_headless(now_ns_);
    while (!deferred_.empty() && deferred_.front().due_ns < now_ns_) emit_deferred();
    forward_.expire();
    // What begins to wait from now on is not due before either of the two.
    endings_due_ns_ = std::min(later(now_ns_, std::min(rules_.settle_ns, rules_.linger_ns)),
                               std::min(later(now_ns_, rules_.expiry_ns), forward_.next_due_ns()));
    if (!headless_.empty()) endings_due_ns_ = std::min(endings_due_ns_, headless_.front().due_ns);
    if (!deferred_.empty()) endings_due_ns_ = std::min(endings_due_ns_, deferred_.front().due_ns);
  }

  void expire_departed() {
    while (departed_.oldest != kNone) {
      departed_due_ns_ = later(store_[departed_.oldest].since_ns, rules_.settle_ns);
      if (now_ns_ <= departed_due_ns_) return;
      fetch_next(departed_.oldest);
      forget(departed_.oldest, now_ns_);
    }
    departed_due_ns_ = later(now_ns_, rules_.settle_ns);
  }

  void expire_waiting() {
    while (waiting_.oldest != kNone) {
      waiting_due_ns_ = later(store_[waiting_.oldest].since_ns, rules_.expiry_ns);
      if (now_ns_ <= waiting_due_ns_) return;
      if (!store_[waiting_.oldest].is(kLeft)) ++totals_.expired_by_time;
      give_up(waiting_.oldest, now_ns_, false);
    }
    waiting_due_ns_ = later(now_ns_, rules_.expiry_ns);
  }

  // Units in the order in which they will be retired: the next one's keys and the one after it.
  void fetch_next(UnitId id) const {
    const auto next = store_[id].next;
    if (next == kNone) return;
    store_.fetch_entries(next);
    if (store_[next].next != kNone) store_.fetch(store_[next].next);
  }

  // What left goes first, then journeys that hold on to it, then what waits.
  void make_room(std::uint64_t now_ns) {
    while (store_.in_memory() > rules_.max_units) {
      if (departed_.oldest != kNone) {
        retire(departed_.oldest);
      } else if (forward_.close_oldest()) {
      } else if (waiting_.oldest != kNone) {
        if (!store_[waiting_.oldest].is(kLeft)) ++totals_.expired_by_memory;
        give_up(waiting_.oldest, now_ns, false);
      } else {
        return;
      }
    }
  }

  Topology topology_;
  Rules rules_;
  Marks marks_;
  Observer& observer_;
  std::uint64_t journeys_ = 0;
  std::uint64_t now_ns_ = 0;
  std::uint64_t endings_due_ns_ = 0;
  std::uint64_t departed_due_ns_ = 0;
  std::uint64_t waiting_due_ns_ = 0;
  Totals totals_;
  Store store_;
  Matcher matcher_;
  Forward forward_;
  Backward backward_;
  Losses losses_;
  Match match_;
  AgeList waiting_;
  AgeList departed_;
  model::EventBatch held_;  // until all others of their instant are here
  std::vector<std::size_t> order_;
  std::deque<Held> late_;
  std::vector<PointId> came_;
  std::uint64_t serial_ = 0;
  std::deque<Headless> headless_;
  std::deque<Headless> deferred_;
  std::vector<UnitId> evicted_;
  std::vector<UnitId> group_;
  std::vector<Longest> stays_;                       // by place
  std::vector<Longest> waits_;                       // by child point
  std::vector<std::uint64_t> begun_;                 // by point of a loop: events without a parent
  std::vector<std::optional<PointId>> loop_inputs_;  // by loop: where most of them are
  bool has_before_ = false;                          // events from before the open mark
  std::vector<std::uint64_t> whole_from_;            // by point, see note_reach()
  std::unordered_map<std::uint32_t, std::uint64_t> first_of_stream_;
};

Rebuilder::Rebuilder(std::unique_ptr<State> state) : state_(std::move(state)) {}
Rebuilder::Rebuilder(Rebuilder&&) noexcept = default;
Rebuilder& Rebuilder::operator=(Rebuilder&&) noexcept = default;
Rebuilder::~Rebuilder() = default;

Result<Rebuilder> Rebuilder::create(const model::Schema& schema, const Rules& rules, Marks marks,
                                    Observer& observer) {
  auto topology = Topology::derive(schema, rules);
  if (!topology) return std::unexpected(std::move(topology).error());
  return Rebuilder(
      std::make_unique<State>(std::move(*topology), rules, std::move(marks), observer));
}

void Rebuilder::consume(const model::EventBatch& events) {
  state_->consume(events);
}
void Rebuilder::finish() {
  state_->finish();
}
const Topology& Rebuilder::topology() const {
  return state_->topology();
}
const Totals& Rebuilder::totals() const {
  return state_->totals();
}

}  // namespace sojourn::journeys
