#include "analysis/journeys/rebuilder.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "analysis/journeys/backward.h"
#include "analysis/journeys/forward.h"
#include "analysis/journeys/late_events.h"
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

// All of it is this file's own, so that the compiler may put together what is called in one place.
class Engine {
 public:
  Engine(Topology derived, const Rules& rules, Marks marks, Observer& observer,
         std::optional<model::Direction> only)
      : only_(only),
        topology_(std::move(derived)),
        rules_(rules),
        marks_(std::move(marks)),
        observer_(observer),
        store_(topology_),
        matcher_(topology_, rules_, store_),
        forward_(topology_, rules_, store_, observer, journeys_,
                 [this](auto from_ns, auto to_ns) { return losses_.between(from_ns, to_ns); }),
        backward_(topology_, observer, journeys_),
        losses_(marks_.open_ns, known_losses(marks_), marks_.first_seqs),
        late_(topology_),
        stays_(topology_.places.size()),
        waits_(topology_.points.size()),
        begun_(topology_.points.size(), 0),
        loop_inputs_(topology_.loops + std::size_t{1}),
        whole_from_(topology_.points.size(), 0) {
    totals_.points.resize(topology_.points.size());
  }

  void consume(const model::EventBatch& events) {
    const auto stamps = events.ts_ns();
    const auto points = events.point();
    for (std::size_t row = 0; row < stamps.size(); ++row) {
      if (points[row] < topology_.points.size() && !topology_.points[points[row]].of_target)
        continue;
      const auto event = events[row];
      totals_.lost += static_cast<std::uint64_t>(losses_.note(event));
      if (!held_.empty() && held_.ts_ns().front() != event.ts_ns) release_held();
      const bool alone = held_.empty() && row + 1 < stamps.size() && stamps[row + 1] != event.ts_ns;
      if (alone)
        process(event);
      else
        held_.append(event);
    }
  }

  void finish() {
    release_held();
    const auto end_ns = std::max(totals_.last_ns, marks_.close_ns);
    while (!late_.empty()) end_oldest_late();
    explain_headless(UINT64_MAX);
    while (!deferred_.empty()) emit_deferred();
    find_inside(end_ns);
    backward_.set_end(end_ns);
    forward_.finish(end_ns);
    while (waiting_.oldest != nullptr) give_up(waiting_.oldest, end_ns, true);
    while (departed_.oldest != nullptr) retire(departed_.oldest);
    totals_.lengths_differ = matcher_.lengths_differ();
  }

  const Topology& topology() const { return topology_; }
  const Totals& totals() const { return totals_; }

 private:
  enum class Turn : std::uint8_t { kFirst, kAgain, kLast };
  struct Due {
    Unit* unit = nullptr;
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
    for (auto* unit = waiting_.oldest; unit != nullptr; unit = unit->next) {
      const auto seen_from = leaves_seen_from[unit->point];
      const bool reaches =
          unit->ts_ns >= marks_.open_ns || (seen_from != 0 && unit->ts_ns >= seen_from);
      if (unit->is(kInside) && reaches &&
          !losses_.between(std::max(unit->ts_ns, marks_.open_ns), end_ns))
        unit->set(kAtEnd);
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
    if (only_ && plan.direction != *only_) {
      pass(event, plan);
      return;
    }
    const bool others_wait = !late_.empty();
    if (others_wait) late_.end_before(event, [this](const auto& late) { take(late, Turn::kLast); });
    if ((others_wait && late_.has_parent_of(event)) || !take(event, Turn::kFirst))
      late_.add(event);
    else if (others_wait)
      late_.try_again(event.point, [this](const auto& late) { return take(late, Turn::kAgain); });
    const auto in_memory = store_.in_memory();
    totals_.peak_units = std::max<std::uint64_t>(totals_.peak_units, in_memory);
    if (in_memory > rules_.max_units) make_room(event.ts_ns);
  }

  // Another rebuilder's event: only what its thread did last is of interest. A round is taken for
  // the repeat that it nearly always is, which a thread does not go on from; were it none, the most
  // that differs is that a journey is called ambiguous.
  void pass(const model::EventView& event, const PointPlan& plan) {
    ++serial_;
    const bool repeats = plan.repeats && !plan.round_is_id && event.values[*plan.round] != 0;
    if (!repeats) matcher_.pass(event.tid, serial_);
  }

  // Whether it was taken. What finds no parent is to wait a little for one.
  bool take(const model::EventView& event, Turn turn) {
    const auto& plan = topology_.points[event.point];
    auto& unit = *store_.create(event, ++serial_, group_of(event.stream));
    store_.retain(&unit);
    hashes_.clear();
    for (const auto& use : plan.inserts) hashes_.push_back(store_.fetch_key(use, unit));
    matcher_.match(unit, match_, turn == Turn::kLast);
    doubt(unit, plan);
    const bool takes = turn == Turn::kLast || !lacks_parent(unit, plan);
    if (takes) {
      if (turn != Turn::kFirst) put_behind_parents(unit);
      connect(unit, plan, totals_.points[event.point]);
      follow(unit, plan);
    }
    store_.release(&unit);
    return takes;
  }

  // Where events were lost since, what a unit was taken to belong to may not be its own.
  void doubt(const Unit& unit, const PointPlan& plan) {
    if (match_.latest != nullptr) {
      doubt_latest(unit, plan);
    } else if (match_.relation == Relation::kBranch) {
      // Of an earlier transmission, when its own was lost.
      const auto& parent = *match_.parents.front();
      const auto& pair = topology_.pair(parent.point, unit.point);
      if (!pair.unpacks && losses_.between(parent.ts_ns, unit.ts_ns)) is_doubtful();
    } else if (match_.relation == Relation::kTakes) {
      doubt_wait(unit);
      if (plan.length && !match_.parents.empty()) doubt_pieces(unit, plan);
    }
  }

  // One that waited far longer than any before it may have left unseen, and its number be used
  // again.
  void doubt_wait(const Unit& unit) {
    const auto& first = *match_.parents.front();
    const auto waited_ns = unit.ts_ns - std::min(unit.ts_ns, first.entered_ns);
    const auto& place = stays_[*topology_.points[first.point].place];
    if (waited_ns <= kStaleFactor * place.longest_ns || !place.known()) return;
    if (!losses_.between(first.ts_ns, unit.ts_ns)) return;
    if (waited_ns > kStaleFactor * place.longest_ns + kStaleFloor_ns)
      match_.clear();
    else
      is_doubtful();
  }

  // The latest of its process that was seen: surely not that if it is further than this one, or was
  // taken out of the input already.
  void doubt_latest(const Unit& unit, const PointPlan& plan) {
    const auto& latest = *match_.latest;
    if (!losses_.between(latest.ts_ns, unit.ts_ns)) return;
    const auto& before = topology_.points[latest.point];
    const bool further = match_.relation == Relation::kRepeat &&
                         latest.values[*before.round] >= unit.values[*plan.round];
    if (further || (plan.input && latest.is(kLeft)))
      match_.clear();
    else
      is_doubtful();
  }

  // Pieces that overlap, some of which may have been thrown away.
  void doubt_pieces(const Unit& unit, const PointPlan& plan) {
    const auto& first = *match_.parents.front();
    if (!topology_.pair(first.point, unit.point).joins) return;
    if (const auto* const left = match_.stranger) {
      // It came from nowhere for a reason.
      const auto before_ns = left->ts_ns - std::min(left->ts_ns, kExcuseFloor_ns);
      const auto from_ns = std::max(before_ns, marks_.open_ns);
      if (losses_.between(from_ns, unit.ts_ns)) is_doubtful();
    }
    std::uint64_t bytes = 0;
    for (const auto* parent : match_.parents)
      bytes += parent->values[*topology_.points[parent->point].length];
    if (bytes > unit.values[*plan.length] && losses_.between(first.ts_ns, unit.ts_ns))
      is_doubtful();
  }

  void is_doubtful() { match_.alternatives = std::max(match_.alternatives, 1U); }

  bool lacks_parent(const Unit& unit, const PointPlan& plan) const {
    if (match_.missing) return true;
    return match_.relation == Relation::kNothing && !plan.pairs.empty() && !plan.control &&
           !is_broadcast(unit, plan) && !is_loop_input(unit, plan);
  }

  void put_behind_parents(Unit& unit) const {
    for (const auto* parent : match_.parents) unit.ts_ns = std::max(unit.ts_ns, parent->ts_ns);
    unit.entered_ns = unit.ts_ns;
  }

  // Ties the unit to its parents and says what kind of unit it is.
  void connect(Unit& unit, const PointPlan& plan, PointTotals& counts) {
    if (match_.repeat_of != nullptr) store_.set_repeat(&unit, match_.repeat_of);
    if (match_.parents.empty()) {
      if (plan.control || is_broadcast(unit, plan)) unit.set(kControl);
    } else {
      store_.set_parents(&unit, match_.parents);
      const auto is_control = [](const Unit* parent) { return parent->is(kControl); };
      if (plan.control || std::ranges::all_of(match_.parents, is_control)) unit.set(kControl);
    }
    if (unit.is(kControl)) ++counts.control;
    if (match_.alternatives > 0) {
      unit.set(kAmbiguous);
      unit.alternatives = match_.alternatives;
      ++counts.ambiguous;
    }
    if (match_.relation == Relation::kRepeat) connect_repeat(unit, plan, counts);
    if (match_.missing) {
      unit.set(kMissing);
      if (!plan.drop) ++totals_.missing_pieces;
      beheaded(unit);
    }
    if (match_.relation == Relation::kNothing && !unit.is(kControl) &&
        (!plan.input || has_round(unit, plan)) && !begins_loop(unit, plan)) {
      unit.set(kHeadless);
      beheaded(unit);
    }
    if (plan.loop != 0 && !match_.parents.empty()) link_rounds(unit, plan, counts);
    for (auto* const parent : match_.parents) {
      store_.add_child(parent, &unit, match_.bytes);
      waits_[unit.point].note(unit.ts_ns - parent->ts_ns);
    }
  }

  static bool is_broadcast(const Unit& unit, const PointPlan& plan) {
    if (!plan.broadcast) return false;
    const auto whom = unit.values[*plan.broadcast];
    return kFirstBroadcast <= whom && whom <= kLastBroadcast;
  }

  // It says that it repeats something.
  static bool has_round(const Unit& unit, const PointPlan& plan) {
    return plan.round && unit.values[*plan.round] != 0;
  }

  // Nothing feeds a loop but itself, so what it begins with is learnt: the point whose events come
  // without a parent most often. Until that is plain, explain_headless() judges.
  bool begins_loop(const Unit& unit, const PointPlan& plan) {
    if (plan.loop == 0 || has_round(unit, plan)) return false;
    const auto begun = ++begun_[unit.point];
    auto& most = loop_inputs_[plan.loop];
    if (!most || begun > begun_[*most]) most = unit.point;
    return *most == unit.point && begun >= kEnoughSamples;
  }

  bool is_loop_input(const Unit& unit, const PointPlan& plan) const {
    return plan.loop != 0 && loop_inputs_[plan.loop] == unit.point && !has_round(unit, plan);
  }

  // What comes to a loop's input again was there before: it is the next round of that.
  void link_rounds(Unit& unit, const PointPlan& plan, PointTotals& counts) {
    if (loop_inputs_[plan.loop] != unit.point || match_.repeat_of != nullptr) return;
    auto* earlier = match_.parents.front();
    for (int turn = 0; turn < kLongestLoop; ++turn) {
      if (earlier->point == unit.point) {
        store_.set_repeat(&unit, earlier);
        ++counts.repeats;
        return;
      }
      if (earlier->parent_count == 0) return;
      earlier = earlier->all_parents().front();
    }
  }

  void connect_repeat(Unit& unit, const PointPlan& plan, PointTotals& counts) {
    ++counts.repeats;
    auto* const earlier = match_.repeat_of;
    if (!plan.input || earlier == nullptr) {
      unit.set(kAgain);
      return;
    }
    // The same unit arrives once more at an input: its stay goes on, and the earlier arrival is
    // not waited for.
    unit.entered_ns = earlier->entered_ns;
    if (earlier->is(kLeft)) return;
    if (earlier->is(kInside)) {
      earlier->clear(kInside);
      // One that came before the open mark is counted from here on: it is there.
      if (!earlier->is(kBefore)) unit.set(kInside);
    }
    depart(earlier);
  }

  // Its journeys go on, its parents leave, and it waits in the place that it entered.
  void follow(Unit& unit, const PointPlan& plan) {
    const bool by_input = rules_.anchor(plan.direction) == Anchor::kInput;
    // An acknowledgement of what was sent before the start is no packet of its own.
    const bool starts = match_.relation == Relation::kNothing && !unit.is(kControl) && !plan.ack;
    if (by_input && starts) {
      forward_.begin(&unit);
    } else if (by_input && !match_.parents.empty()) {
      forward_.inherit(&unit, match_.parents, match_.has_bytes ? &match_.bytes : nullptr);
    }
    leave_parents(unit, plan);
    if (by_input && plan.output) forward_.reached_output(unit);
    if (by_input && plan.drop) forward_.dropped(unit);
    if (!by_input && (plan.output || plan.drop) && !unit.is(kControl))
      end_backward(&unit, plan.drop);
    if (plan.place || plan.repeats) enter(&unit, plan);
  }

  void leave_parents(const Unit& unit, const PointPlan& plan) {
    const auto relation = match_.relation;
    const bool samples = relation == Relation::kTakes || relation == Relation::kPiece ||
                         relation == Relation::kBranch;
    const bool leaves = relation == Relation::kTakes || match_.all_left;
    for (auto* const parent : match_.parents) {
      if (samples) tell_of_stay(*parent, unit);
      if (leaves && !parent->is(kLeft)) leave(parent, unit.ts_ns);
      if (plan.ack) forward_.acknowledged(*parent, unit.ts_ns);
      if ((plan.ack || plan.drop) && parent->is(kAwaitsAck)) acknowledge(parent);
    }
  }

  void tell_of_stay(const Unit& parent, const Unit& child) {
    observer_.on_stay({.pair = topology_.pair_index(parent.point, child.point),
                       .entered_ns = parent.entered_ns,
                       .left_ns = child.ts_ns,
                       .entered_by = parent.tid,
                       .left_by = child.tid,
                       .values = store_.values(child)});
  }

  void leave(Unit* unit, std::uint64_t ts_ns) {
    if (unit->is(kInside)) {
      unit->clear(kInside);
      const auto place = *topology_.points[unit->point].place;
      stays_[place].note(ts_ns - unit->entered_ns);
      if (!unit->is(kBefore)) observer_.on_leave(place, unit->entered_ns, ts_ns, true);
    }
    depart(unit);
  }

  // Nobody waits for it any more; it is kept for late repeats (or its acknowledgement).
  void depart(Unit* unit) {
    unit->set(kLeft);
    forward_.left(*unit);
    if (!unit->is(kAwaitsAck)) {
      waiting_.unlink(unit);
      departed_.append(unit, now_ns_);
    }
    evicted_.clear();
    store_.mark_used(unit, evicted_);
    for (auto* const old : evicted_) retire(old);
  }

  void acknowledge(Unit* unit) {
    forward_.unpin(*unit, kAwaitsAck);
    if (!unit->is(kLeft)) {
      leave(unit, now_ns_);
      return;
    }
    waiting_.unlink(unit);
    departed_.append(unit, now_ns_);
  }

  void enter(Unit* unit, const PointPlan& plan) {
    store_.retain(unit);
    waiting_.append(unit, now_ns_);
    unit->set(kListed);
    if (plan.place && !unit->is(kInside)) {
      unit->set(kInside);
      if (unit->ts_ns < marks_.open_ns)
        unit->set(kBefore);
      else
        observer_.on_enter(*plan.place, unit->ts_ns);
    }
    if (plan.awaits_ack) forward_.pin(*unit, kAwaitsAck);
    for (std::size_t i = 0; i < plan.inserts.size(); ++i) {
      const auto& use = plan.inserts[i];
      evicted_.clear();
      store_.insert(unit, use, hashes_[i], evicted_);
      for (auto* const old : evicted_) retire(old);
      forget_stale(*unit, plan, use);
    }
    if (!plan.repeats) return;
    if (auto* const before = store_.replace(unit, *plan.repeats))
      forward_.unpin(*before, kLatestRound);
    if (!plan.input) forward_.pin(*unit, kLatestRound);
  }

  // A unit of the same key that has waited far longer than any before it was never seen to leave;
  // one at the same address is gone whenever another one is there.
  // Where units are gathered, others of the key are what it waits for.
  void forget_stale(const Unit& unit, const PointPlan& plan, const TableUse& use) {
    const auto* const older = unit.entries->older;  // than the entry that was just made
    if (use.gathers || older == nullptr) return;
    auto* const stale = older->unit;
    if (!use.single) {
      const auto& place = stays_[*plan.place];
      const auto limit_ns = kStaleFactor * place.longest_ns + kStaleFloor_ns;
      if (!place.known() || now_ns_ - stale->ts_ns <= limit_ns) return;
    }
    ++totals_.expired_by_reuse;
    give_up(stale, now_ns_, false);
  }

  // A unit that left is kept a little; one that HARQ may still repeat, longer.
  void forget(Unit* unit, std::uint64_t now_ns) {
    if (unit->is(kLatestRound) && now_ns - unit->ts_ns <= rules_.linger_ns) {
      departed_.unlink(unit);
      departed_.append(unit, now_ns);
    } else {
      retire(unit);
    }
  }

  // Takes a unit out of tables and lists.
  void retire(Unit* unit) {
    if (!unit->is(kListed)) return;  // evicted from two tables at once
    unit->clear(kListed);
    const bool waits = !unit->is(kLeft) || unit->is(kAwaitsAck);
    forward_.unpin(*unit, kAwaitsAck);
    forward_.unpin(*unit, kLatestRound);
    (waits ? waiting_ : departed_).unlink(unit);
    store_.remove(unit);
    store_.release(unit);
  }

  // A unit that was not seen to leave: where journeys are anchored at their output, it ends one.
  void give_up(Unit* unit, std::uint64_t now_ns, bool at_end) {
    if (!unit->is(kLeft)) {
      const auto& plan = topology_.points[unit->point];
      no_longer_inside(unit, plan, now_ns);
      if (rules_.anchor(plan.direction) == Anchor::kOutput && !unit->is(kControl) &&
          !was_empty(*unit, plan, now_ns, at_end)) {
        const bool lost = at_end || losses_.between(unit->ts_ns, now_ns);
        emit_unfinished(unit, plan, now_ns, lost ? Outcome::kCensored : Outcome::kIncomplete);
        return;
      }
    }
    retire(unit);
  }

  void no_longer_inside(Unit* unit, const PointPlan& plan, std::uint64_t now_ns) {
    if (!unit->is(kInside)) return;
    unit->clear(kInside);
    if (!unit->is(kBefore)) observer_.on_leave(*plan.place, unit->entered_ns, now_ns, false);
  }

  // A block that had its time, and that nothing was taken out of, had no packet in it.
  bool was_empty(const Unit& unit, const PointPlan& plan, std::uint64_t now_ns, bool at_end) {
    if (!plan.block || unit.first_child.child != nullptr || losses_.between(unit.ts_ns, now_ns))
      return false;
    const auto& place = stays_[*plan.place];
    const auto stay_ns = std::max(kExcuseFloor_ns, kExcuseFactor * place.longest_ns);
    if (at_end && (!place.known() || now_ns - unit.ts_ns <= stay_ns)) return false;
    ++totals_.points[unit.point].control;
    return true;
  }

  // Pieces that would have been put together are one journey.
  void emit_unfinished(Unit* unit, const PointPlan& plan, std::uint64_t now_ns, Outcome outcome) {
    group_.assign(1, unit);
    const auto gathers = std::ranges::find_if(plan.inserts, &TableUse::gathers);
    if (gathers != plan.inserts.end())
      for (const auto* entry = store_.find(*gathers, *unit).open; entry != nullptr;
           entry = entry->older)
        if (entry->unit != unit && entry->unit->point == unit->point) group_.push_back(entry->unit);
    backward_.emit(group_, outcome);
    for (auto* const member : group_) {
      no_longer_inside(member, plan, now_ns);
      retire(member);
    }
  }

  // Why a beginning was not seen is judged later, when losses around it are known.
  void beheaded(Unit& unit) {
    store_.retain(&unit);
    headless_.push_back({&unit, now_ns_ + rules_.linger_ns});
  }

  void explain_headless(std::uint64_t now_ns) {
    while (!headless_.empty() && headless_.front().due_ns <= now_ns) {
      auto& unit = *headless_.front().unit;
      headless_.pop_front();
      const auto& plan = topology_.points[unit.point];
      auto& counts = totals_.points[unit.point];
      if (unit.is(kHeadless) && is_loop_input(unit, plan)) unit.clear(kHeadless);
      const bool cut = is_excused(unit, plan);
      // What takes in units and had none was made inside, of control only. A drop that lacks pieces
      // lacks them for a reason, unless the start may have cut them off.
      const bool control = unit.is(kHeadless) && !cut && plan.container;
      const bool lacks = unit.is(kMissing) && (cut || !plan.drop);
      if (unit.is(kHeadless) || lacks) unit.set(cut ? kCut : kOrphan);
      if (unit.is(kHeadless)) ++(cut ? counts.cut : control ? counts.control : counts.orphans);
      unit.clear(kHeadless);
      unit.clear(kMissing);
      store_.release(&unit);
    }
  }

  // What was dropped for want of a piece waited for it as long as others did; it would be a pity to
  // excuse all drops of the first second.
  bool is_excused(const Unit& unit, const PointPlan& plan) const {
    const auto& wait = waits_[unit.point];
    auto reach_ns = rules_.expiry_ns;
    const bool wants_piece = plan.drop && !unit.is(kHeadless);
    if (wait.known())
      reach_ns = std::min(
          reach_ns, std::max(wants_piece ? 0 : kExcuseFloor_ns, kExcuseFactor * wait.longest_ns));
    const auto open_ns = marks_.open_ns != 0 ? marks_.open_ns : totals_.first_ns;
    if (unit.ts_ns < open_ns + reach_ns) return true;
    return losses_.between(unit.ts_ns - std::min(unit.ts_ns, reach_ns), unit.ts_ns);
  }

  void end_backward(Unit* unit, bool drop) {
    if (backward_.emit_clean(unit, drop ? Outcome::kDropped : Outcome::kComplete)) return;
    store_.retain(unit);
    deferred_.push_back({unit, now_ns_ + rules_.linger_ns});
  }

  void emit_deferred() {
    auto* const unit = deferred_.front().unit;
    deferred_.pop_front();
    const bool drop = topology_.points[unit->point].drop;
    backward_.emit(std::span(&unit, 1), drop ? Outcome::kDropped : Outcome::kComplete);
    store_.release(unit);
  }

  void end_oldest_late() {
    late_.end_oldest([this](const auto& late) { take(late, Turn::kLast); });
  }

  // Most events find that nothing is due: each kind remembers before when nothing can be.
  void expire(std::uint64_t now_ns) {
    now_ns_ = now_ns;
    forward_.set_now(now_ns);
    while (!late_.empty() && late_.oldest_ns() + rules_.late_ns < now_ns) end_oldest_late();
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
    while (departed_.oldest != nullptr) {
      departed_due_ns_ = later(departed_.oldest->since_ns, rules_.settle_ns);
      if (now_ns_ <= departed_due_ns_) return;
      fetch_next(*departed_.oldest);
      forget(departed_.oldest, now_ns_);
    }
    departed_due_ns_ = later(now_ns_, rules_.settle_ns);
  }

  void expire_waiting() {
    while (waiting_.oldest != nullptr) {
      waiting_due_ns_ = later(waiting_.oldest->since_ns, rules_.expiry_ns);
      if (now_ns_ <= waiting_due_ns_) return;
      if (!waiting_.oldest->is(kLeft)) ++totals_.expired_by_time;
      give_up(waiting_.oldest, now_ns_, false);
    }
    waiting_due_ns_ = later(now_ns_, rules_.expiry_ns);
  }

  // Units in the order in which they will be retired: each in three steps, long before its turn.
  void fetch_next(const Unit& unit) const {
    const auto* const first = unit.next;
    if (first == nullptr) return;
    store_.fetch_slot(first);
    const auto* const second = first->next;
    if (second == nullptr) return;
    store_.fetch_holder(second);
    if (second->next != nullptr) store_.fetch(second->next);
  }

  // What left goes first, then journeys that hold on to it, then what waits.
  void make_room(std::uint64_t now_ns) {
    while (store_.in_memory() > rules_.max_units) {
      if (departed_.oldest != nullptr) {
        retire(departed_.oldest);
      } else if (forward_.close_oldest()) {
      } else if (waiting_.oldest != nullptr) {
        if (!waiting_.oldest->is(kLeft)) ++totals_.expired_by_memory;
        give_up(waiting_.oldest, now_ns, false);
      } else {
        return;
      }
    }
  }

  std::optional<model::Direction> only_;
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
  LateEvents late_;
  std::uint64_t serial_ = 0;
  std::deque<Due> headless_;
  std::deque<Due> deferred_;
  std::vector<std::uint64_t> hashes_;  // of the keys that the event's unit will be found by
  std::vector<Unit*> evicted_;
  std::vector<Unit*> group_;
  std::vector<Longest> stays_;                       // by place
  std::vector<Longest> waits_;                       // by child point
  std::vector<std::uint64_t> begun_;                 // by point of a loop: events without a parent
  std::vector<std::optional<PointId>> loop_inputs_;  // by loop: where most of them are
  bool has_before_ = false;                          // events from before the open mark
  std::vector<std::uint64_t> whole_from_;            // by point, see note_reach()
  std::unordered_map<std::uint32_t, std::uint64_t> first_of_stream_;
};

}  // namespace

class Rebuilder::State : public Engine {
  using Engine::Engine;
};

Rebuilder::Rebuilder(std::unique_ptr<State> state) : state_(std::move(state)) {}
Rebuilder::Rebuilder(Rebuilder&&) noexcept = default;
Rebuilder& Rebuilder::operator=(Rebuilder&&) noexcept = default;
Rebuilder::~Rebuilder() = default;

Result<Rebuilder> Rebuilder::create(const model::Schema& schema, const Rules& rules, Marks marks,
                                    Observer& observer, std::optional<model::Direction> only) {
  auto topology = Topology::derive(schema, rules);
  if (!topology) return std::unexpected(std::move(topology).error());
  return Rebuilder(
      std::make_unique<State>(std::move(*topology), rules, std::move(marks), observer, only));
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
