#include "analysis/journeys/forward.h"

#include <algorithm>
#include <utility>

namespace sojourn::journeys {
namespace {

// A target that sends units in circles would make one journey as long as the trace.
constexpr std::size_t kMaxSteps = 100'000;

}  // namespace

Forward::Forward(const Topology& topology, const Rules& rules, Store& store, Observer& observer,
                 std::uint64_t& next_id, Excuse lost)
    : topology_(topology),
      rules_(rules),
      store_(store),
      observer_(observer),
      next_id_(next_id),
      lost_(std::move(lost)),
      per_point_(topology.points.size(), 0) {}

Forward::Progress* Forward::open_journey(const Member& member) {
  auto& journey = progress_[member.journey];
  return journey.serial == member.serial ? &journey : nullptr;
}

void Forward::begin(UnitId root) {
  const auto index = progress_.take();
  auto& journey = progress_[index];
  auto trail = std::move(journey.trail);
  auto parents = std::move(journey.parents);
  auto covered = std::move(journey.covered);
  trail.clear();
  parents.clear();
  covered.clear();
  journey = {};
  journey.trail = std::move(trail);
  journey.parents = std::move(parents);
  journey.covered = std::move(covered);
  journey.id = ++next_id_;
  journey.serial = next_serial_++;
  journey.start_ns = store_[root].entered_ns;
  journey.headless = store_[root].is(kHeadless);
  append(queues_[static_cast<int>(Wait::kExpiry)], index);
  const auto serial = journey.serial;
  const auto step = add_step(index, root);
  store_.make_members(root, 1)[0] = {index, serial, step, false, false, {}};
  count_leaf(root);
}

std::uint32_t Forward::add_step(std::uint32_t index, UnitId id) {
  auto& journey = progress_[index];
  const auto& unit = store_[id];
  journey.trail.push_back({id, static_cast<std::uint32_t>(journey.parents.size()), kNoStep, false});
  journey.last_serial = unit.serial;
  journey.last_ns = unit.ts_ns;
  journey.ambiguous |= unit.is(kAmbiguous);
  journey.alternatives += unit.alternatives;
  store_.retain(id);
  return static_cast<std::uint32_t>(journey.trail.size() - 1);
}

Member Forward::derive(const Member& member, const Unit& parent, const Interval* bytes,
                       Progress& journey) {
  Member made = member;
  if (bytes == nullptr) return made;
  const auto length = topology_.points[parent.point].length;
  const auto whole = static_cast<std::uint32_t>(store_.values(parent)[*length]);
  if (!member.has_bytes) {
    made.has_bytes = true;
    made.bytes = *bytes;
    journey.whole = std::max(journey.whole, whole);
  } else if (member.bytes.end - member.bytes.begin == whole) {
    made.bytes = {member.bytes.begin + bytes->begin, member.bytes.begin + bytes->end};
  } else {
    journey.by_bytes = false;  // cut twice, and the lengths of the two cuts do not fit together
  }
  return made;
}

void Forward::inherit(UnitId id, std::span<const UnitId> parents, const Interval* bytes) {
  add_members(id, parents, bytes);
  if (store_[id].repeat_of != kNone) link_repeats(id);
  count_leaf(id);
}

void Forward::add_members(UnitId id, std::span<const UnitId> parents, const Interval* bytes) {
  gathered_.clear();
  const auto serial = store_[id].serial;
  const bool again = store_[id].is(kAgain);
  for (const auto parent_id : parents) {
    const auto& parent = store_[parent_id];
    for (const auto& member : store_.members(parent)) {
      auto* journey = open_journey(member);
      if (journey == nullptr || journey->trail.size() >= kMaxSteps) continue;
      auto made = derive(member, parent, bytes, *journey);
      if (journey->last_serial != serial) add_step(member.journey, id);
      auto& trail = journey->trail.back();
      const auto known = std::span(journey->parents).subspan(trail.first_parent);
      if (std::ranges::find(known, member.step) == known.end())
        journey->parents.push_back(member.step);
      made.step = static_cast<std::uint32_t>(journey->trail.size() - 1);
      made.again |= again;
      trail.again |= made.again;
      gathered_.push_back(made);
    }
  }
  std::ranges::copy(gathered_,
                    store_.make_members(id, static_cast<std::uint32_t>(gathered_.size())).begin());
}

void Forward::link_repeats(UnitId id) {
  const auto& unit = store_[id];
  for (const auto& earlier : store_.members(store_[unit.repeat_of])) {
    auto* journey = open_journey(earlier);
    if (journey == nullptr || journey->last_serial != unit.serial) continue;
    journey->trail.back().repeat_of = earlier.step;
  }
}

// A journey with two pieces in one unit has one leaf there, but two members: each counts, and each
// is taken back when the unit leaves.
void Forward::count_leaf(UnitId id) {
  const bool leaf = !topology_.points[store_[id].point].ends();
  for (const auto& member : store_.members(store_[id])) {
    auto* journey = open_journey(member);
    if (journey == nullptr) continue;
    if (leaf) ++journey->live;
    if (leaf && !member.again) {
      ++journey->open;
      if (journey->done_step != kNoStep && (!journey->by_bytes || journey->whole == 0))
        journey->done_step = kNoStep;  // another branch opened
    }
    reconsider(member.journey);
  }
}

void Forward::left(UnitId id) {
  for (const auto& member : store_.members(store_[id])) {
    auto* journey = open_journey(member);
    if (journey == nullptr) continue;
    if (journey->live > 0) --journey->live;
    if (!member.again && journey->open > 0) --journey->open;
    reconsider(member.journey);
  }
}

void Forward::check_whole(Progress& journey, std::uint32_t step, std::uint64_t ts_ns) {
  if (is_done(journey)) return;
  const bool whole = journey.by_bytes && journey.whole != 0
                         ? journey.covered.holds({0, journey.whole})
                         : journey.open == 0 && journey.dropped_leaves == 0;
  if (!whole) return;
  journey.done_step = step;
  journey.done_ns = ts_ns;
}

void Forward::reached_output(UnitId id) {
  const auto ts_ns = store_[id].ts_ns;
  for (const auto& member : store_.members(store_[id])) {
    auto* journey = open_journey(member);
    if (journey == nullptr) continue;
    ++journey->outputs;
    journey->last_out_ns = ts_ns;
    if (member.has_bytes) journey->covered.add(member.bytes);
    if (member.again && journey->dropped_leaves > 0) --journey->dropped_leaves;
  }
  for (const auto& member : store_.members(store_[id])) {
    auto* journey = open_journey(member);
    if (journey == nullptr) continue;
    check_whole(*journey, member.step, ts_ns);
    reconsider(member.journey);
  }
}

void Forward::dropped(UnitId id) {
  for (const auto& member : store_.members(store_[id])) {
    auto* journey = open_journey(member);
    if (journey == nullptr) continue;
    ++journey->drops;
    journey->drop_step = member.step;
    if (!member.again) ++journey->dropped_leaves;
    reconsider(member.journey);
  }
}

void Forward::acknowledged(UnitId parent, std::uint64_t ts_ns) {
  for (const auto& member : store_.members(store_[parent]))
    if (auto* journey = open_journey(member)) journey->ack_ns = ts_ns;
}

void Forward::pin(UnitId id, Flag why) {
  store_[id].set(why);
  for (const auto& member : store_.members(store_[id])) {
    auto* journey = open_journey(member);
    if (journey == nullptr) continue;
    ++(why == kAwaitsAck ? journey->acks_pending : journey->rounds_pending);
    reconsider(member.journey);
  }
}

void Forward::unpin_members(UnitId id, Flag why) {
  store_[id].clear(why);
  for (const auto& member : store_.members(store_[id])) {
    auto* journey = open_journey(member);
    if (journey == nullptr) continue;
    --(why == kAwaitsAck ? journey->acks_pending : journey->rounds_pending);
    reconsider(member.journey);
  }
}

void Forward::distrust_bytes(UnitId id) {
  for (const auto& member : store_.members(store_[id]))
    if (auto* journey = open_journey(member)) journey->by_bytes = false;
}

Forward::Wait Forward::awaited(const Progress& journey) const {
  const bool ended = is_done(journey) || (journey.live == 0 && journey.drops > 0);
  if (!ended || journey.acks_pending > 0) return Wait::kExpiry;
  if (journey.headless || journey.live > 0 || journey.rounds_pending > 0) return Wait::kLinger;
  return Wait::kSettle;
}

void Forward::reconsider(std::uint32_t index) {
  auto& journey = progress_[index];
  const auto wait = awaited(journey);
  // What waits to expire is as old as its input; the others start anew with every change.
  if (wait == journey.wait && wait == Wait::kExpiry) return;
  unlink(queues_[static_cast<int>(journey.wait)], index);
  journey.wait = wait;
  append(queues_[static_cast<int>(wait)], index);
}

void Forward::append(Queue& queue, std::uint32_t index) {
  auto& journey = progress_[index];
  journey.since_ns = now_ns_;
  journey.previous = queue.newest;
  journey.next = kNone;
  (queue.newest == kNone ? queue.oldest : progress_[queue.newest].next) = index;
  queue.newest = index;
}

void Forward::unlink(Queue& queue, std::uint32_t index) {
  const auto& journey = progress_[index];
  (journey.previous == kNone ? queue.oldest : progress_[journey.previous].next) = journey.next;
  (journey.next == kNone ? queue.newest : progress_[journey.next].previous) = journey.previous;
}

std::uint64_t Forward::patience(Wait wait) const {
  if (wait == Wait::kSettle) return rules_.settle_ns;
  return wait == Wait::kLinger ? rules_.linger_ns : rules_.expiry_ns;
}

void Forward::expire() {
  for (const auto wait : {Wait::kSettle, Wait::kLinger, Wait::kExpiry}) {
    const auto& queue = queues_[static_cast<int>(wait)];
    while (queue.oldest != kNone && now_ns_ - progress_[queue.oldest].since_ns > patience(wait)) {
      fetch_next(queue.oldest);
      close(queue.oldest, {.at_end = false, .expired = wait == Wait::kExpiry});
    }
  }
}

std::uint64_t Forward::next_due_ns() const {
  auto due_ns = UINT64_MAX;
  for (const auto wait : {Wait::kSettle, Wait::kLinger, Wait::kExpiry}) {
    const auto oldest = queues_[static_cast<int>(wait)].oldest;
    if (oldest == kNone) continue;
    const auto since_ns = progress_[oldest].since_ns;
    if (patience(wait) < due_ns - std::min(due_ns, since_ns)) due_ns = since_ns + patience(wait);
  }
  return due_ns;
}

// Journeys in the order in which they will be closed: the next one's units and the one after it.
void Forward::fetch_next(std::uint32_t index) const {
  const auto next = progress_[index].next;
  if (next == kNone) return;
  for (const auto& trail : progress_[next].trail) store_.fetch(trail.unit);
  const auto after = progress_[next].next;
  if (after == kNone) return;
  const auto* bytes = reinterpret_cast<const char*>(&progress_[after]);
  for (std::size_t at = 0; at < sizeof(Progress); at += 64) __builtin_prefetch(bytes + at);
}

bool Forward::close_oldest() {
  for (const auto wait : {Wait::kSettle, Wait::kLinger, Wait::kExpiry}) {
    const auto oldest = queues_[static_cast<int>(wait)].oldest;
    if (oldest == kNone) continue;
    close(oldest, {.at_end = false, .expired = wait == Wait::kExpiry});
    return true;
  }
  return false;
}

void Forward::finish(std::uint64_t end_ns) {
  end_ns_ = end_ns;
  for (const auto wait : {Wait::kSettle, Wait::kLinger, Wait::kExpiry})
    while (queues_[static_cast<int>(wait)].oldest != kNone)
      close(queues_[static_cast<int>(wait)].oldest, {.at_end = true, .expired = false});
}

Outcome Forward::outcome_of(const Progress& journey, const Unit& root, Closing closing) const {
  if (root.is(kCut)) return Outcome::kCensored;
  if (is_done(journey)) return root.is(kOrphan) ? Outcome::kIncomplete : Outcome::kComplete;
  const bool hopeless = journey.live == 0 && journey.acks_pending == 0;
  if (journey.drops > 0 && (hopeless || closing.expired)) return Outcome::kDropped;
  if (closing.at_end || lost_(journey.start_ns, now_ns_)) return Outcome::kCensored;
  return Outcome::kIncomplete;
}

void Forward::close(std::uint32_t index, Closing closing) {
  auto& journey = progress_[index];
  unlink(queues_[static_cast<int>(journey.wait)], index);
  const auto& root = store_[journey.trail.front().unit];
  if (!root.is(kOrphan)) {
    Journey out;
    out.outcome = outcome_of(journey, root, closing);
    describe(journey, out);
    observer_.on_journey(out);
  }
  journey.serial = 0;
  for (const auto& trail : journey.trail) store_.release(trail.unit);
  progress_.give(index);
}

void Forward::describe(const Progress& journey, Journey& out) {
  steps_.clear();
  out.segments = 1;
  for (std::size_t i = 0; i < journey.trail.size(); ++i) {
    const auto& trail = journey.trail[i];
    const auto& unit = store_[trail.unit];
    const auto end =
        i + 1 < journey.trail.size() ? journey.trail[i + 1].first_parent : journey.parents.size();
    steps_.push_back(
        {unit.ts_ns, unit.entered_ns, unit.seq, unit.tid, unit.stream, unit.point, trail.again,
         unit.is(kAtEnd), trail.repeat_of, store_.values(unit),
         std::span(journey.parents).subspan(trail.first_parent, end - trail.first_parent)});
    if (trail.repeat_of != kNoStep) {
      ++out.retransmissions;
      if (topology_.points[unit.point].round) ++out.harq_retransmissions;
    } else if (!trail.again && topology_.points[unit.point].loop == 0) {
      out.segments = std::max(out.segments, ++per_point_[unit.point]);
    }
  }
  for (const auto& step : steps_) per_point_[step.point] = 0;
  const auto last = static_cast<std::uint32_t>(steps_.size() - 1);
  const bool dropped = out.outcome == Outcome::kDropped && journey.drop_step != kNoStep;
  out.end_step = is_done(journey) ? journey.done_step : dropped ? journey.drop_step : last;
  out.id = journey.id;
  out.direction = topology_.points[steps_.front().point].direction;
  out.ambiguous = journey.ambiguous;
  out.alternatives = journey.alternatives;
  out.headless = journey.headless;
  out.start_ns = journey.start_ns;
  out.end_ns = steps_[out.end_step].ts_ns;
  out.last_out_ns = journey.last_out_ns;
  out.ack_ns = journey.ack_ns;
  out.drops = journey.drops;
  out.steps = steps_;
  if (out.outcome == Outcome::kCensored && std::ranges::any_of(steps_, &Step::inside))
    out.inside_until_ns = end_ns_;
}

}  // namespace sojourn::journeys
