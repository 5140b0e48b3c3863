#include "analysis/journeys/assemble/input_journeys.h"

#include <algorithm>
#include <ranges>
#include <utility>

namespace sojourn::journeys {
namespace {

// If a target sent units in circles, a journey without this limit would be as long as the trace.
constexpr std::size_t kMaxSteps = 100'000;
// Steps of longer journeys are counted as memory.
constexpr std::size_t kUsualSteps = 64;
constexpr std::size_t kFirstSteps = 8;

std::size_t unusual(std::size_t steps) {
  return std::max(steps, kUsualSteps) - kUsualSteps;
}

bool is_open(const JourneyMember& member) {
  return member.journey->serial == member.serial;
}

// Visits the unit's members of open journeys. Usually there is one.
template <typename Visit>
void for_each_open(const Unit& unit, Visit visit) {
  const auto look = [&](const JourneyMember& member) {
    if (is_open(member)) [[likely]]
      visit(member, *member.journey);
  };
  if (unit.member_count == 1) [[likely]]
    return look(unit.only_member);
  for (const auto& member : unit.all_members()) look(member);
}

bool may_join(const JourneyMember& member) {
  return is_open(member) && member.journey->trail.size() < kMaxSteps;
}

// Both are the same part of the same journey.
bool is_same_part(const JourneyMember& left, const JourneyMember& right) {
  return left.journey == right.journey && left.serial == right.serial &&
         left.has_bytes == right.has_bytes && (!left.has_bytes || left.bytes == right.bytes);
}

// The journey has another branch.
void open_leaf(OpenJourney& journey) {
  ++journey.open;
  if (!journey.by_bytes || journey.whole == 0) journey.done_step = kNoStep;
}

}  // namespace

InputJourneys::InputJourneys(const Topology& topology, const Rules& rules, UnitStore& store,
                             Observer& observer, std::uint64_t& next_id, Excuse lost)
    : topology_(topology),
      rules_(rules),
      store_(store),
      observer_(observer),
      next_id_(next_id),
      lost_(std::move(lost)),
      describes_steps_(observer.wants_steps()),
      per_point_(topology.points.size(), 0),
      pieces_(topology) {}

void InputJourneys::begin(Unit* root) {
  auto& journey = *progress_.take();
  journey.trail.clear();
  journey.parents.clear();
  journey.covered.clear();
  journey = {.id = ++next_id_,
             .start_ns = root->entered_ns,
             .serial = next_serial_++,
             .headless = root->is(kHeadless),
             .covered = std::move(journey.covered),
             .trail = std::move(journey.trail),
             .parents = std::move(journey.parents)};
  observer_.on_begin(journey.id);
  append(queue(Wait::kExpiry), journey);
  add_step(journey, root);
  store_.make_members(root, 1).front() = {&journey, journey.serial, 0, {}, false, false};
  count_leaf(*root);
}

[[gnu::always_inline]] inline void InputJourneys::add_step(OpenJourney& journey, Unit* unit) {
  if (journey.trail.size() == journey.trail.capacity()) make_room(journey);
  journey.trail.push_back({.unit = unit,
                           .ts_ns = unit->ts_ns,
                           .first_parent = static_cast<std::uint32_t>(journey.parents.size()),
                           .repeat_of = kNoStep,
                           .point = unit->point,
                           .again = false,
                           .tid = unit->tid});
  journey.last_serial = unit->serial;
  journey.ambiguous |= unit->is(kAmbiguous);
  if (held(journey) == journey.trail.size()) store_.retain(unit);
}

void InputJourneys::make_room(OpenJourney& journey) {
  const auto had = journey.trail.capacity();
  journey.trail.reserve(std::max(kFirstSteps, 2 * had));
  store_.add_parts(unusual(journey.trail.capacity()) - unusual(had));
}

// The new member has `bytes` of the bytes of the journey that the parent has.
void InputJourneys::cut(const Unit& parent, const JourneyMember& member, const Interval& bytes,
                        JourneyMember& made) {
  auto& journey = *member.journey;
  const auto whole =
      static_cast<std::uint32_t>(parent.values[*topology_.points[parent.point].length]);
  if (!member.has_bytes) {
    made.has_bytes = true;
    made.bytes = bytes;
    journey.whole = std::max(journey.whole, whole);
  } else if (member.bytes.end - member.bytes.begin == whole) {
    made.bytes = {member.bytes.begin + bytes.begin, member.bytes.begin + bytes.end};
  } else {
    journey.by_bytes = false;  // the unit was cut twice, and the lengths of the cuts do not fit
  }
}

// The latest step of the journey has one more parent.
void InputJourneys::add_parent(OpenJourney& journey, std::uint32_t step) {
  const auto known = std::span(journey.parents).subspan(journey.trail.back().first_parent);
  if (std::ranges::find(known, step) == known.end()) journey.parents.push_back(step);
}

// Makes the member of a journey in a unit whose parent has `member`. It is written in place:
// copying a struct right after its fields were written makes the processor wait for the stores.
[[gnu::always_inline]] inline void InputJourneys::join(Unit* unit, const Unit& parent,
                                                       const JourneyMember& member,
                                                       const Interval* bytes, JourneyMember& made) {
  auto& journey = *member.journey;
  made.journey = member.journey;
  made.serial = member.serial;
  made.bytes = member.bytes;
  made.has_bytes = member.has_bytes;
  if (bytes != nullptr) [[unlikely]]
    cut(parent, member, *bytes, made);
  if (journey.last_serial == unit->serial) {
    add_parent(journey, member.step);
  } else {
    add_step(journey, unit);
    journey.parents.push_back(member.step);
  }
  made.step = static_cast<std::uint32_t>(journey.trail.size() - 1);
  made.again = member.again || unit->is(kAgain);
  journey.trail.back().again |= made.again;
}

void InputJourneys::inherit(Unit* unit, std::span<Unit* const> parents, const Interval* bytes) {
  add_members(unit, parents, bytes);
  if (unit->repeat_of != nullptr) [[unlikely]]
    link_repeats(*unit);
  count_leaf(*unit);
}

void InputJourneys::add_members(Unit* unit, std::span<Unit* const> parents, const Interval* bytes) {
  if (unit->is(kHasOrigin)) {
    if (const auto* const origin = unit->more->origin)
      add_members_of(*origin, unit, *parents.front(), bytes);
    return;
  }
  // Mostly there is one parent with one packet.
  if (parents.size() > 1 || parents.front()->member_count > 1)
    return add_all_members(unit, parents, bytes);
  const auto& parent = *parents.front();
  if (parent.member_count == 0 || !may_join(parent.only_member)) return;
  unit->member_count = 1;
  join(unit, parent, parent.only_member, bytes, unit->only_member);
}

void InputJourneys::add_all_members(Unit* unit, std::span<Unit* const> parents,
                                    const Interval* bytes) {
  gathered_.clear();
  for (const auto* parent : parents)
    for (const auto& member : parent->all_members())
      if (may_join(member)) join_gathered(unit, *parent, member, bytes);
  std::ranges::copy(gathered_, store_.make_members(unit, gathered_.size()).begin());
}

void InputJourneys::join_gathered(Unit* unit, const Unit& parent, const JourneyMember& member,
                                  const Interval* bytes) {
  join(unit, parent, member, bytes, gathered_.emplace_back());
}

// The parent is a block. The unit joins only the journeys that its origin brought into the block.
void InputJourneys::add_members_of(const Unit& origin, Unit* unit, const Unit& parent,
                                   const Interval* bytes) {
  gathered_.clear();
  const auto carried = parent.all_members();
  for (const auto& member : origin.all_members()) {
    if (!may_join(member)) continue;
    const auto is_it = [&](const JourneyMember& other) { return is_same_part(other, member); };
    const auto found = std::ranges::find_if(carried, is_it);
    if (found != carried.end()) join_gathered(unit, parent, *found, bytes);
  }
  std::ranges::copy(gathered_, store_.make_members(unit, gathered_.size()).begin());
}

void InputJourneys::link_repeats(const Unit& unit) {
  for_each_open(*unit.repeat_of, [&](const JourneyMember& earlier, OpenJourney& journey) {
    if (journey.last_serial == unit.serial) journey.trail.back().repeat_of = earlier.step;
  });
}

// A journey with two segments in one unit has two members there. Each counts as a leaf, and each is
// subtracted when the unit leaves.
void InputJourneys::count_leaf(const Unit& unit) {
  const bool leaf = !topology_.points[unit.point].ends();
  for_each_open(unit, [&](const JourneyMember& member, OpenJourney& journey) {
    if (leaf) {
      ++journey.live;
      if (!member.again) open_leaf(journey);
    }
    reconsider(journey);
  });
}

void InputJourneys::left(const Unit& unit) {
  for_each_open(unit, [&](const JourneyMember& member, OpenJourney& journey) {
    if (journey.live > 0) --journey.live;
    if (!member.again && journey.open > 0) --journey.open;
    reconsider(journey);
  });
}

void InputJourneys::check_whole(OpenJourney& journey, std::uint32_t step) {
  if (journey.is_done()) return;
  const bool whole = journey.by_bytes && journey.whole != 0
                         ? journey.covered.holds({0, journey.whole})
                         : journey.open == 0 && journey.dropped_leaves == 0;
  if (whole) journey.done_step = step;
}

void InputJourneys::reached_output(const Unit& unit) {
  for_each_open(unit, [&](const JourneyMember& member, OpenJourney& journey) {
    journey.last_out_ns = unit.ts_ns;
    if (member.has_bytes) journey.covered.add(member.bytes);
    if (member.again && journey.dropped_leaves > 0) --journey.dropped_leaves;
  });
  for_each_open(unit, [&](const JourneyMember& member, OpenJourney& journey) {
    check_whole(journey, member.step);
    reconsider(journey);
  });
}

void InputJourneys::dropped(const Unit& unit) {
  for_each_open(unit, [&](const JourneyMember& member, OpenJourney& journey) {
    ++journey.drops;
    journey.drop_step = member.step;
    if (!member.again) ++journey.dropped_leaves;
    reconsider(journey);
  });
}

void InputJourneys::acknowledged(const Unit& parent, std::uint64_t ts_ns) {
  for_each_open(parent,
                [&](const JourneyMember&, OpenJourney& journey) { journey.ack_ns = ts_ns; });
}

void InputJourneys::pin(Unit& unit, Flag why) {
  unit.set(why);
  for_each_open(unit, [&](const JourneyMember&, OpenJourney& journey) {
    ++(why == kAwaitsAck ? journey.acks_pending : journey.rounds_pending);
    reconsider(journey);
  });
}

void InputJourneys::unpin_members(Unit& unit, Flag why) {
  unit.clear(why);
  for_each_open(unit, [&](const JourneyMember&, OpenJourney& journey) {
    --(why == kAwaitsAck ? journey.acks_pending : journey.rounds_pending);
    reconsider(journey);
  });
}

void InputJourneys::doubt(const Unit& unit) {
  for_each_open(unit, [](const JourneyMember&, OpenJourney& journey) { journey.ambiguous = true; });
}

void InputJourneys::distrust_bytes(const Unit& unit) {
  for_each_open(unit, [](const JourneyMember&, OpenJourney& journey) { journey.by_bytes = false; });
}

void InputJourneys::requeue(OpenJourney& journey, Wait wait) {
  unlink(queue(journey.wait), journey);
  journey.wait = wait;
  append(queue(wait), journey);
}

void InputJourneys::append(Queue& queue, OpenJourney& journey) {
  journey.since_ns = now_ns_;
  journey.previous = queue.newest;
  journey.next = nullptr;
  (queue.newest == nullptr ? queue.oldest : queue.newest->next) = &journey;
  queue.newest = &journey;
}

void InputJourneys::unlink(Queue& queue, const OpenJourney& journey) {
  (journey.previous == nullptr ? queue.oldest : journey.previous->next) = journey.next;
  (journey.next == nullptr ? queue.newest : journey.next->previous) = journey.previous;
}

std::uint64_t InputJourneys::timeout_ns(Wait wait) const {
  if (wait == Wait::kSettle) return rules_.settle_ns;
  return wait == Wait::kLinger ? rules_.linger_ns : rules_.expiry_ns;
}

void InputJourneys::expire() {
  for (const auto wait : {Wait::kSettle, Wait::kLinger, Wait::kExpiry}) {
    const auto& oldest = queue(wait).oldest;
    while (oldest != nullptr && now_ns_ - oldest->since_ns > timeout_ns(wait)) {
      prefetch_next(*oldest);
      close(oldest, {.at_end = false, .expired = wait == Wait::kExpiry});
    }
  }
}

std::uint64_t InputJourneys::next_due_ns() const {
  auto due_ns = UINT64_MAX;
  for (const auto wait : {Wait::kSettle, Wait::kLinger, Wait::kExpiry}) {
    const auto* oldest = queue(wait).oldest;
    if (oldest == nullptr) continue;
    const auto since_ns = oldest->since_ns;
    if (timeout_ns(wait) < due_ns - std::min(due_ns, since_ns))
      due_ns = since_ns + timeout_ns(wait);
  }
  return due_ns;
}

// Fetches the journeys that will be closed next: the units of the first one, the steps of the
// second one, and the third one itself.
void InputJourneys::prefetch_next(const OpenJourney& journey) const {
  const auto fetch = [](const auto* first, std::size_t count) {
    const auto* bytes = reinterpret_cast<const char*>(first);
    for (std::size_t at = 0; at < count * sizeof(*first); at += kCacheLine)
      prefetch_line(bytes + at);
  };
  const auto* first = journey.next;
  if (first == nullptr) return;
  for (const auto& trail : std::span(first->trail).first(held(*first)))
    UnitStore::prefetch(trail.unit, describes_steps_);
  const auto* second = first->next;
  if (second == nullptr) return;
  fetch(second->trail.data(), second->trail.size());
  fetch(second->parents.data(), second->parents.size());
  if (second->next != nullptr) fetch(second->next, 1);
}

bool InputJourneys::close_oldest() {
  for (const auto wait : {Wait::kSettle, Wait::kLinger, Wait::kExpiry}) {
    auto* const oldest = queue(wait).oldest;
    if (oldest == nullptr) continue;
    close(oldest, {.at_end = false, .expired = wait == Wait::kExpiry});
    return true;
  }
  return false;
}

void InputJourneys::note_inside(const Unit& unit) {
  for_each_open(unit, [&](const JourneyMember&, OpenJourney& journey) {
    inside_[journey.id].push_back({*topology_.points[unit.point].place, unit.entered_ns});
  });
}

void InputJourneys::finish(std::uint64_t end_ns) {
  end_ns_ = end_ns;
  for (const auto wait : {Wait::kSettle, Wait::kLinger, Wait::kExpiry})
    while (queue(wait).oldest != nullptr)
      close(queue(wait).oldest, {.at_end = true, .expired = false});
}

Outcome InputJourneys::outcome_of(const OpenJourney& journey, const Unit& root,
                                  Closing closing) const {
  if (root.is(kCut)) return Outcome::kCensored;
  if (journey.is_done()) return root.is(kOrphan) ? Outcome::kIncomplete : Outcome::kComplete;
  const bool hopeless = journey.live == 0 && journey.acks_pending == 0;
  if (journey.drops > 0 && (hopeless || closing.expired)) return Outcome::kDropped;
  const model::Direction direction = topology_.points[root.point].direction;
  if (closing.at_end || lost_(journey.start_ns, now_ns_, direction)) return Outcome::kCensored;
  return Outcome::kIncomplete;
}

void InputJourneys::close(OpenJourney* journey, Closing closing) {
  unlink(queue(journey->wait), *journey);
  const auto& root = *journey->trail.front().unit;
  if (!root.is(kOrphan)) {
    Journey out;
    out.outcome = outcome_of(*journey, root, closing);
    describe(*journey, out);
    observer_.on_journey(out);
  }
  journey->serial = 0;
  for (const auto& trail : std::span(journey->trail).first(held(*journey)))
    store_.release(trail.unit);
  if (journey->trail.capacity() > kUsualSteps) give_back_steps(*journey);
  progress_.give(journey);
}

// Gives back the memory of many steps, which the next journey in this memory will hardly need.
void InputJourneys::give_back_steps(OpenJourney& journey) {
  store_.drop_parts(unusual(journey.trail.capacity()));
  journey.trail = {};
  journey.parents = {};
}

void InputJourneys::describe(const OpenJourney& journey, Journey& out) {
  const auto& steps = journey.trail;
  out.segments = 1;
  bool is_plain = true;
  for (const auto& step : steps) {
    if (step.repeat_of != kNoStep) [[unlikely]] {
      if (goes_on(journey, step)) continue;
      ++out.retransmissions;
      if (topology_.points[step.point].harq.round) ++out.harq_retransmissions;
    } else if (step.again) {
      is_plain = is_plain && came_before(journey, static_cast<std::size_t>(&step - steps.data()));
    } else if (const auto& plan = topology_.points[step.point]; !plan.circles) [[likely]] {
      out.segments = std::max(out.segments, ++per_point_[step.point]);
    } else if (plan.loop == 0 && ++per_point_[step.point] > 1) {
      is_plain = false;
    }
  }
  for (const auto& step : steps) per_point_[step.point] = 0;
  if (!is_plain) [[unlikely]]
    out.segments = count_pieces(journey);
  const bool dropped = out.outcome == Outcome::kDropped && journey.drop_step != kNoStep;
  out.end_step = journey.is_done() ? journey.done_step
                 : dropped         ? journey.drop_step
                                   : static_cast<std::uint32_t>(steps.size() - 1);
  out.id = journey.id;
  out.direction = topology_.points[steps.front().point].direction;
  out.ambiguous = journey.ambiguous;
  out.headless = journey.headless;
  out.start_ns = journey.start_ns;
  out.end_ns = steps[out.end_step].ts_ns;
  out.last_ns = steps.back().ts_ns;
  out.last_out_ns = journey.last_out_ns;
  out.ack_ns = journey.ack_ns;
  out.drops = journey.drops;
  if (out.outcome == Outcome::kComplete) describe_critical_path(journey, out);
  if (out.outcome == Outcome::kCensored) describe_inside(out);
  // Ambiguities are found by the steps.
  if (describes_steps_ && (out.ambiguous || observer_.wants_steps_of(out)))
    describe_steps(journey, is_plain, out);
}

// The step is the next point of a round that was counted before: its parent is a repeat, too.
bool InputJourneys::goes_on(const OpenJourney& journey, const OpenJourney::Trail& step) const {
  if (step.first_parent == journey.parents.size()) return false;
  const auto before = parents_of(journey, step.repeat_of);
  auto again = journey.trail[journey.parents[step.first_parent]].repeat_of;
  for (int round = 0; round < kMaxRounds && again != kNoStep;
       ++round, again = journey.trail[again].repeat_of)
    if (std::ranges::find(before, again) != before.end()) return true;
  return false;
}

// Returns whether the segment of this step reached its point in an earlier round. A repeat usually
// goes as far as the first round, so its child has a counterpart among the children of the first
// round. Returns false if only Pieces can decide.
bool InputJourneys::came_before(const OpenJourney& journey, std::size_t step) const {
  const auto& trail = journey.trail;
  const auto parents = parents_of(journey, step);
  if (parents.size() != 1 || trail[parents.front()].repeat_of == kNoStep) return false;
  auto first = trail[parents.front()].repeat_of;
  while (trail[first].repeat_of != kNoStep) first = trail[first].repeat_of;
  bool came = false;
  for (auto at = first + std::size_t{1}; at < step; ++at) {
    if (trail[at].point != trail[step].point || trail[at].repeat_of != kNoStep) continue;
    const auto from = parents_of(journey, at);
    // The repeat has several children, and only Pieces can match them with those of the first
    // round.
    if (std::ranges::find(from, parents.front()) != from.end()) return false;
    came |= std::ranges::find(from, first) != from.end();
  }
  return came;
}

std::uint32_t InputJourneys::count_pieces(const OpenJourney& journey) {
  pieces_.start();
  for (std::size_t step = 0; step < journey.trail.size(); ++step)
    pieces_.add(journey.trail[step].point, journey.trail[step].repeat_of,
                parents_of(journey, step));
  return pieces_.most();
}

void InputJourneys::describe_inside(Journey& out) const {
  const auto inside = inside_.find(out.id);
  if (inside == inside_.end()) return;
  out.inside_until_ns = end_ns_;
  out.inside = inside->second;
}

// Goes back from the event that made the journey whole, at each step to the parent that came last.
void InputJourneys::describe_critical_path(const OpenJourney& journey, Journey& out) {
  critical_path_.clear();
  for (auto step = out.end_step; step != 0;) {
    const auto& to = journey.trail[step];
    const auto parents = parents_of(journey, step);
    step = *std::ranges::max_element(
        parents, {}, [&](std::uint32_t parent) { return journey.trail[parent].ts_ns; });
    const auto& from = journey.trail[step];
    critical_path_.push_back({.place = *topology_.points[from.point].place,
                              .ns = to.ts_ns - (step == 0 ? journey.start_ns : from.ts_ns),
                              .left_ns = to.ts_ns,
                              .entered_by = from.tid,
                              .left_by = to.tid});
  }
  out.critical_path = critical_path_;
}

void InputJourneys::describe_steps(const OpenJourney& journey, bool is_plain, Journey& out) {
  const auto count = journey.trail.size();
  if (steps_.size() < count) steps_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& trail = journey.trail[i];
    const auto& unit = *trail.unit;
    steps_[i] = {unit.ts_ns,
                 unit.entered_ns,
                 unit.seq,
                 unit.tid,
                 unit.stream,
                 unit.point,
                 is_plain ? trail.again || trail.repeat_of != kNoStep : pieces_.is_again(i),
                 unit.is(kAtEnd),
                 trail.repeat_of,
                 {unit.values, topology_.points[unit.point].values},
                 parents_of(journey, i)};
  }
  out.steps = std::span(steps_).first(count);
  if (journey.ambiguous)
    out.set_ambiguities(store_.ambiguities().describe(
        std::views::transform(journey.trail, &OpenJourney::Trail::unit)));
}

}  // namespace sojourn::journeys
