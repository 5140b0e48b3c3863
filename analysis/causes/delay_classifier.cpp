#include "analysis/causes/delay_classifier.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace sojourn::causes {

using context::State;
using context::ThreadSpan;
using context::Waker;
using journeys::Journey;
using journeys::kNoStep;

std::string_view name(CauseKind kind) {
  constexpr std::string_view kNames[kCauseKinds] = {
      "work",     "queue", "slot",  "cpu",    "blocked", "interrupted",
      "handover", "held",  "order", "pieces", "again",   "unknown"};
  return kNames[static_cast<std::size_t>(kind)];
}

namespace {

std::uint32_t latest_parent(const Journey& journey, std::uint32_t step) {
  auto latest = kNoStep;
  for (const std::uint32_t parent : journey.steps[step].parents)
    if (latest == kNoStep || journey.steps[parent].ts_ns > journey.steps[latest].ts_ns)
      latest = parent;
  return latest;
}

}  // namespace

CriticalPath critical_path_of(const Journey& journey, const journeys::Topology& topology,
                              const journeys::PacketNames& names) {
  const journeys::Step& named = journey.steps[journey.own_step];
  CriticalPath way;
  way.verdict = {.journey = journey.id,
                 .direction = journey.direction,
                 .start_ns = journey.start_ns,
                 .end_ns = journey.end_ns,
                 .segments = journey.segments,
                 .retransmissions = journey.retransmissions,
                 .is_ambiguous = journey.ambiguous,
                 .namesake = named.point,
                 .values = {named.values.begin(), named.values.end()},
                 .ids = names.of(journey),
                 .parts = {}};
  for (auto at = journey.end_step; at != kNoStep; at = latest_parent(journey, at)) {
    const journeys::Step& step = journey.steps[at];
    const std::uint64_t repeats_ns =
        step.repeat_of == kNoStep ? 0 : journey.steps[step.repeat_of].ts_ns;
    way.steps.push_back({.ts_ns = step.ts_ns,
                         .entered_ns = step.entered_ns,
                         .repeats_ns = repeats_ns,
                         .tid = step.tid,
                         .point = step.point,
                         .values = {step.values.begin(), step.values.end()}});
    // The reassembly nearest to the beginning: before it there is only one segment.
    if (step.parents.size() > 1)
      way.reassembly_place =
          topology.pair(journey.steps[step.parents.front()].point, step.point).place;
  }
  std::ranges::reverse(way.steps);
  return way;
}

DelayClassifier::DelayClassifier(const model::Schema& schema, const journeys::Topology& topology,
                                 const Timeline& timeline, const QueuePositions& lines,
                                 const ContextNameTable& names)
    : schema_(schema), topology_(topology), timeline_(timeline), positions_(lines), names_(names) {}

Verdict DelayClassifier::classify(const CriticalPath& way) {
  parts_.clear();
  Verdict verdict = way.verdict;
  const CriticalPath::Step& first = way.steps.front();
  if (first.entered_ns > verdict.start_ns)
    add({.kind = CauseKind::kReassembly,
         .place = way.reassembly_place,
         .ns = first.entered_ns - verdict.start_ns,
         .begin_ns = verdict.start_ns,
         .end_ns = first.entered_ns,
         .count = verdict.segments});
  for (std::size_t step = 1; step < way.steps.size(); ++step) pass(way, step);
  std::ranges::stable_sort(parts_, std::ranges::greater(), &LatencyPart::ns);
  verdict.parts = parts_;
  return verdict;
}

// Classifies the stay between a step and the next one.
void DelayClassifier::pass(const CriticalPath& way, std::size_t step) {
  const CriticalPath::Step& from = way.steps[step - 1];
  const CriticalPath::Step& to = way.steps[step];
  const std::uint32_t pair = topology_.pair_index(from.point, to.point);
  Wait stay = {.place = topology_.pairs[pair].place,
               .begin_ns = from.ts_ns,
               .end_ns = to.ts_ns,
               .from = from.tid,
               .to = to.tid,
               .ahead = {}};
  // The unit arrived again while it was in its place already.
  if (step == 1 && from.entered_ns < from.ts_ns) {
    LatencyPart again = part(CauseKind::kRetransmission, stay, from.entered_ns, from.ts_ns);
    if (const auto& plan = topology_.points[from.point];
        plan.harq.round && plan.harq.knows_number())
      again.number = static_cast<std::int64_t>(plan.harq.round_of(from.values));
    add(again);
  }
  const std::uint64_t sent_again_ns = to.ts_ns;
  if (to.repeats_ns > stay.begin_ns && to.repeats_ns < sent_again_ns) {
    LatencyPart again = part(CauseKind::kRetransmission, stay, to.repeats_ns, sent_again_ns);
    if (const auto& plan = topology_.points[to.point]; plan.harq.round && plan.harq.knows_number())
      again.number = static_cast<std::int64_t>(plan.harq.round_of(to.values));
    add(again);
    stay.end_ns = to.repeats_ns;
  }
  if (stay.end_ns <= stay.begin_ns) return;

  const std::uint64_t flow = positions_.flow(pair, to.values);
  const std::uint64_t entered_ns = step == 1 ? from.entered_ns : from.ts_ns;
  stay.ahead = positions_.ahead(pair, flow, entered_ns, stay.end_ns);
  // Units ahead took about as long as this one. So those from before the trace's beginning have
  // left by then, unless this one entered soon after it.
  const std::uint64_t stayed_ns = stay.end_ns - entered_ns;
  stay.is_lower_bound = entered_ns < timeline_.open_ns() + stayed_ns;
  stay.is_paced = timeline_.slots().leads(stay.to);
  if (stay.is_paced) stay.slot = slot_of(way, step);
  if (stay.ahead.units != 0) {
    const Timeline::WaitingPlace where = {.place = topology_.places[stay.place].name,
                                          .ids = to.values,
                                          .from_thread = names_.known(stay.from),
                                          .to_thread = names_.known(stay.to)};
    if (const auto depth = timeline_.sampled_depth(where, stay.begin_ns, stay.end_ns))
      stay.sampled = static_cast<std::int64_t>(*depth);
  }
  wait(stay);
}

// The slot of the step's event, or of later events of its thread for the same unit.
std::int64_t DelayClassifier::slot_of(const CriticalPath& way, std::size_t step) const {
  for (std::size_t at = step; at < way.steps.size() && way.steps[at].tid == way.steps[step].tid;
       ++at)
    if (const auto field = schema_.points[way.steps[at].point].field(model::kSlotField))
      return static_cast<std::int64_t>(way.steps[at].values[*field]);
  return -1;
}

void DelayClassifier::wait(Wait wait) {
  if (wait.ahead.overtakers != 0) {
    const std::uint64_t until_ns = std::clamp(wait.ahead.late_ns, wait.begin_ns, wait.end_ns);
    LatencyPart order = part(CauseKind::kReordering, wait, wait.begin_ns, until_ns);
    order.count = wait.ahead.overtakers;
    add(order);
    wait.begin_ns = until_ns;
  }
  const auto within = [&](std::uint64_t ts_ns) {
    return std::clamp(ts_ns, wait.begin_ns, wait.end_ns);
  };
  wait.turn_ns = wait.ahead.units == 0 ? wait.begin_ns : within(wait.ahead.last_ns);
  const bool goes_on = wait.from == wait.to && wait.ahead.units == 0;
  wait.served_ns =
      goes_on ? wait.begin_ns
              : std::max(wait.turn_ns, within(timeline_.last_event_before(wait.to, wait.end_ns)));
  if (!timeline_.knows_states() || wait.to == 0) {
    if (wait.is_paced) {
      queued(wait, wait.begin_ns, wait.end_ns);
      return;
    }
    add(part(CauseKind::kQueue, wait, wait.begin_ns, wait.served_ns));
    add(part(CauseKind::kUnknown, wait, wait.served_ns, wait.end_ns));
    return;
  }
  std::uint64_t done_ns = wait.begin_ns;
  timeline_.each_span(wait.to, wait.begin_ns, wait.end_ns, [&](const ThreadSpan& span) {
    const std::uint64_t from_ns = std::max(span.begin_ns, done_ns);
    const std::uint64_t to_ns = std::min(span.end_ns, wait.end_ns);
    if (to_ns <= from_ns) return;
    add(part(CauseKind::kUnknown, wait, done_ns, from_ns));
    done_ns = to_ns;
    switch (span.state) {
      case State::kRunning:
        interrupts(wait, wait.to, from_ns, to_ns);
        return;
      case State::kRunnable:
        wanted_cpu(wait, span, from_ns, to_ns);
        return;
      case State::kBlocked:
        sleep(wait, span, from_ns, to_ns);
        return;
      case State::kUnknown:
      case State::kGone:
        add(part(CauseKind::kUnknown, wait, from_ns, to_ns));
    }
  });
  add(part(CauseKind::kUnknown, wait, done_ns, wait.end_ns));
}

// The thread ran, except during interrupts.
void DelayClassifier::interrupts(const Wait& wait, std::uint32_t tid, std::uint64_t from_ns,
                                 std::uint64_t to_ns) {
  std::uint64_t done_ns = from_ns;
  const auto ran = [&](std::uint64_t until_ns) {
    if (tid == wait.to) {
      run(wait, done_ns, until_ns);
      return;
    }
    LatencyPart held = part(CauseKind::kHandover, wait, done_ns, until_ns);
    held.tid = tid;
    add(held);
  };
  timeline_.each_interrupt(tid, from_ns, to_ns, [&](const Timeline::Interrupt& interrupt) {
    const std::uint64_t begin_ns = std::max(interrupt.begin_ns, done_ns);
    const std::uint64_t end_ns = std::min(interrupt.end_ns, to_ns);
    if (end_ns <= begin_ns) return;
    ran(begin_ns);
    LatencyPart lost = part(CauseKind::kInterrupted, wait, begin_ns, end_ns);
    lost.tid = tid;
    lost.number = interrupt.number;
    lost.is_softirq = interrupt.is_softirq;
    lost.count = 1;
    add(lost);
    done_ns = end_ns;
  });
  ran(to_ns);
}

void DelayClassifier::run(const Wait& wait, std::uint64_t from_ns, std::uint64_t to_ns) {
  const std::uint64_t own_ns = std::clamp(wait.served_ns, from_ns, std::max(from_ns, to_ns));
  if (wait.is_paced)
    queued(wait, from_ns, own_ns);
  else
    add(part(CauseKind::kQueue, wait, from_ns, own_ns));
  LatencyPart work = part(CauseKind::kWork, wait, own_ns, to_ns);
  work.faults = timeline_.faults(wait.to, own_ns, to_ns);
  add(work);
}

// A thread that is paced by slots serves its queue slot by slot: while units are ahead the cause is
// the queue, then the slot.
void DelayClassifier::queued(const Wait& wait, std::uint64_t from_ns, std::uint64_t to_ns) {
  const std::uint64_t turn_ns = std::clamp(wait.turn_ns, from_ns, std::max(from_ns, to_ns));
  add(part(CauseKind::kQueue, wait, from_ns, turn_ns));
  add(part(CauseKind::kSlot, wait, turn_ns, to_ns));
}

// Each thread that had the CPU meanwhile gets a part; threads of other processes are one part.
void DelayClassifier::wanted_cpu(const Wait& wait, const ThreadSpan& span, std::uint64_t from_ns,
                                 std::uint64_t to_ns) {
  std::uint64_t done_ns = from_ns;
  const auto lost = [&](std::uint32_t by, std::uint64_t until_ns) {
    LatencyPart part = this->part(CauseKind::kCpu, wait, done_ns, until_ns);
    part.tid = span.tid;
    part.by = by;
    part.cpu = span.cpu;
    part.was_running = span.was_running;
    add(part);
    done_ns = until_ns;
  };
  timeline_.each_occupant(span.cpu, from_ns, to_ns,
                          [&](std::uint32_t tid, std::uint64_t begin_ns, std::uint64_t end_ns) {
                            lost(span.by, begin_ns);
                            lost(tid, end_ns);
                          });
  lost(span.by, to_ns);
}

// Classifies a sleep: until the next slot, for lack of work, or in the middle of work.
void DelayClassifier::sleep(const Wait& wait, const ThreadSpan& span, std::uint64_t from_ns,
                            std::uint64_t to_ns) {
  if (wait.is_paced && span.waker != Waker::kThread) {
    // A sleep of more than a slot is no wait for a slot.
    const std::uint64_t slot_ns = timeline_.slots().slot_ns();
    const bool is_long = slot_ns != 0 && span.end_ns - span.begin_ns > 2 * slot_ns;
    const std::uint64_t until_ns =
        is_long ? std::clamp(span.begin_ns + slot_ns, from_ns, to_ns) : to_ns;
    queued(wait, from_ns, until_ns);
    blocked(wait, span, until_ns, to_ns);
    return;
  }
  const bool waits_for_work = wait.from != wait.to && wait.from != 0 && span.by == wait.from &&
                              (span.waker == Waker::kThread || span.waker == Waker::kSoftirq);
  const bool is_held = has_parted(wait, span.begin_ns);
  // A wait that ends by its timeout is one for work, too, unless it is a sleep.
  const auto call = timeline_.call_around(span.tid, span.begin_ns, span.end_ns);
  const bool is_timed_wait = is_held && span.waker != Waker::kThread && call &&
                             !names_.syscall(*call).contains("nanosleep");
  if ((waits_for_work && is_held) || is_timed_wait)
    add(part(CauseKind::kBatching, wait, from_ns, to_ns));
  else if (waits_for_work)
    handover(wait, from_ns, to_ns);
  else
    blocked(wait, span, from_ns, to_ns);
}

// Returns whether the thread had handed the unit over before this wait. It had, unless it sleeps or
// waits for the thread that it hands the unit to.
bool DelayClassifier::is_parting(const Wait& wait, const ThreadSpan& span) const {
  return span.state == State::kBlocked && span.begin_ns > wait.begin_ns &&
         span.waker == Waker::kThread && span.by != wait.to;
}

bool DelayClassifier::has_parted(const Wait& wait, std::uint64_t before_ns) const {
  bool has = false;
  if (wait.from != wait.to && before_ns > wait.begin_ns)
    timeline_.each_span(wait.from, wait.begin_ns, before_ns,
                        [&](const ThreadSpan& span) { has = has || is_parting(wait, span); });
  return has;
}

// The thread before still had the unit, so its states are the cause.
void DelayClassifier::handover(const Wait& wait, std::uint64_t from_ns, std::uint64_t to_ns) {
  std::uint64_t done_ns = from_ns;
  bool has_parted = false;
  const auto rest = [&](std::uint64_t until_ns) {
    LatencyPart part = this->part(has_parted ? CauseKind::kBatching : CauseKind::kHandover, wait,
                                  done_ns, until_ns);
    if (!has_parted) part.tid = wait.from;
    add(part);
    done_ns = std::max(done_ns, until_ns);
  };
  timeline_.each_span(wait.from, from_ns, to_ns, [&](const ThreadSpan& span) {
    has_parted = has_parted || is_parting(wait, span);
    if (has_parted) return;
    const std::uint64_t begin_ns = std::max(span.begin_ns, done_ns);
    const std::uint64_t end_ns = std::min(span.end_ns, to_ns);
    if (end_ns <= begin_ns) return;
    rest(begin_ns);
    done_ns = end_ns;
    if (span.state == State::kRunnable) {
      wanted_cpu(wait, span, begin_ns, end_ns);
    } else if (span.state == State::kBlocked) {
      blocked(wait, span, begin_ns, end_ns);
    } else {
      interrupts(wait, wait.from, begin_ns, end_ns);
    }
  });
  rest(to_ns);
}

void DelayClassifier::blocked(const Wait& wait, const ThreadSpan& span, std::uint64_t from_ns,
                              std::uint64_t to_ns) {
  LatencyPart waited = part(CauseKind::kBlocked, wait, from_ns, to_ns);
  waited.tid = span.tid;
  waited.by_interrupt = span.waker == Waker::kSoftirq || span.waker == Waker::kInterrupt;
  waited.by = span.waker == Waker::kThread ? span.by : 0;
  if (const auto call = timeline_.call_around(span.tid, span.begin_ns, span.end_ns))
    waited.number = *call;
  add(waited);
}

LatencyPart DelayClassifier::part(CauseKind kind, const Wait& wait, std::uint64_t from_ns,
                                  std::uint64_t to_ns) const {
  LatencyPart made = {.kind = kind,
                      .place = wait.place,
                      .ns = to_ns > from_ns ? to_ns - from_ns : 0,
                      .begin_ns = from_ns,
                      .end_ns = to_ns,
                      .tid = wait.to};
  if (kind == CauseKind::kQueue) {
    made.count = wait.ahead.units;
    made.of_flow = wait.ahead.of_flow;
    made.is_lower_bound = wait.is_lower_bound;
    made.is_paced = wait.is_paced;
    made.sampled = wait.sampled;
  }
  if (kind == CauseKind::kSlot) {
    made.number = wait.slot;
    if (const std::uint64_t slot_ns = timeline_.slots().slot_ns(); slot_ns != 0)
      made.count = (wait.end_ns - wait.turn_ns + slot_ns / 2) / slot_ns;
  }
  return made;
}

bool DelayClassifier::is_same(const LatencyPart& left, const LatencyPart& right) {
  return left.kind == right.kind && left.place == right.place && left.tid == right.tid &&
         left.by == right.by && left.cpu == right.cpu && left.was_running == right.was_running &&
         left.by_interrupt == right.by_interrupt && left.number == right.number &&
         left.is_softirq == right.is_softirq;
}

void DelayClassifier::add(LatencyPart part) {
  if (part.ns == 0) return;
  if (keeps_stretches_) part.stretches.push_back({part.begin_ns, part.end_ns});
  const auto known =
      std::ranges::find_if(parts_, [&](const LatencyPart& one) { return is_same(one, part); });
  if (known == parts_.end()) {
    parts_.push_back(std::move(part));
    return;
  }
  known->ns += part.ns;
  known->begin_ns = std::min(known->begin_ns, part.begin_ns);
  known->end_ns = std::max(known->end_ns, part.end_ns);
  known->faults += part.faults;
  std::ranges::copy(part.stretches, std::back_inserter(known->stretches));
  known->count = part.kind == CauseKind::kInterrupted ? known->count + part.count
                                                      : std::max(known->count, part.count);
}

}  // namespace sojourn::causes
