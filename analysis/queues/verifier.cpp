#include "analysis/queues/verifier.h"

#include <algorithm>
#include <utility>

namespace sojourn::queues {

namespace {

// The time between a count and the stamp of its event: some 100 ns, unless the thread is preempted.
constexpr std::uint64_t kRace = 50'000;

// The largest difference of the clocks of samples and events.
constexpr std::uint64_t kStampError = 1'000;

// Within this time a preempted operation has left its event.
constexpr std::uint64_t kPatience = 200'000'000;

std::int64_t difference(std::uint64_t left, std::uint64_t right) {
  return static_cast<std::int64_t>(left - right);
}

}  // namespace

Verifier::Base Verifier::Base::with(const Base& other) const {
  return {std::max(low, other.low), std::min(high, other.high)};
}

std::uint64_t Verifier::Counted::before(std::uint64_t ts_ns) const {
  const auto newer = recent_ns.end() - std::ranges::lower_bound(recent_ns, ts_ns);
  return by_events - static_cast<std::uint64_t>(newer);
}

Verifier::Verifier(const trace::Reader& reader) : reader_(&reader) {
  for (const model::Point& point : reader.schema().points) plans_.push_back(plan_of(point));
}

Verifier::Plan Verifier::plan_of(const model::Point& point) {
  const auto field = point.field("queue");
  if (!field) return {};
  if (point.direction == model::Direction::kSample && point.src == "queue.sample")
    return {Kind::kSample, *field};
  if (point.direction != model::Direction::kScalar || point.src != "queue") return {};
  if (point.dest == "enqueue") return {Kind::kEnqueue, *field};
  if (point.dest == "dequeue") return {Kind::kDequeue, *field};
  return {};
}

void Verifier::consume(const model::EventBatch& events) {
  for (std::size_t row = 0; row < events.size(); ++row) {
    const model::EventView event = events[row];
    if (event.point >= plans_.size()) continue;
    const Plan plan = plans_[event.point];
    if (plan.kind == Kind::kOther || plan.queue_field >= event.values.size()) continue;
    Queue& queue = queues_[event.values[plan.queue_field]];
    resolve(queue, event.ts_ns);
    if (plan.kind == Kind::kEnqueue) note_operation(queue.in, event.ts_ns);
    if (plan.kind == Kind::kDequeue) note_operation(queue.out, event.ts_ns);
    if (plan.kind == Kind::kSample)
      if (const auto sample = model::queue_sample(reader_->schema(), event))
        note_sample(queue, event.ts_ns, *sample);
  }
}

void Verifier::note_operation(Counted& counted, std::uint64_t ts_ns) {
  ++counted.by_events;
  counted.recent_ns.push_back(ts_ns);
  while (counted.recent_ns.front() + kStampError < ts_ns) counted.recent_ns.pop_front();
}

void Verifier::note_sample(Queue& queue, std::uint64_t ts_ns, const model::QueueSample& sample) {
  const std::uint64_t sure_ns = ts_ns - std::min(ts_ns, kStampError);
  queue.pending.push_back({.ts_ns = ts_ns,
                           .sample = sample,
                           .in_before = queue.in.before(sure_ns),
                           .out_before = queue.out.before(sure_ns),
                           .in_now = queue.in.by_events,
                           .out_now = queue.out.by_events});
}

// Resolves samples whose windows are over, with the counts of events at their ends.
void Verifier::resolve(Queue& queue, std::uint64_t now_ns) {
  while (!queue.pending.empty()) {
    const Pending& next = queue.pending.front();
    if (now_ns <= next.ts_ns + next.sample.span_ns + kRace) return;
    judge(queue, next);
    queue.pending.pop_front();
  }
}

void Verifier::judge(Queue& queue, const Pending& pending) {
  const model::QueueSample& sample = pending.sample;
  if (!queue.has_first) {
    queue.first = pending;
    queue.has_first = true;
  }
  queue.last = pending;
  ++queue.comparison.compared;

  const Base by_in = {difference(sample.in, queue.in.by_events),
                      difference(sample.in, pending.in_before)};
  const Base by_out = {difference(sample.out, queue.out.by_events),
                       difference(sample.out + sample.slack, pending.out_before)};
  const Base in = queue.base_in.with(by_in);
  const Base out = queue.base_out.with(by_out);
  if (in.is_empty() || out.is_empty()) {
    if (queue.suspected++ == 0) queue.suspect = pending;
    if (pending.ts_ns - queue.suspect.ts_ns > kPatience) give_up(queue);
    return;
  }
  queue.comparison.in_race += std::exchange(queue.suspected, 0);
  // With an operation in its window a sample also agrees with one event more or less, so a loss
  // before it may only show later.
  const bool begins = queue.base_in.low == INT64_MIN;
  if (begins || (by_in.low == by_in.high && by_out.low == by_out.high))
    queue.agreed_ns = pending.ts_ns;
  queue.base_in = in;
  queue.base_out = out;
  const auto lies_in = [](const Base& base, std::int64_t value) {
    return base.low <= value && value <= base.high;
  };
  const bool is_equal = lies_in(in, difference(sample.in, pending.in_now)) &&
                        lies_in(out, difference(sample.out, pending.out_now));
  ++(is_equal ? queue.comparison.equal : queue.comparison.in_race);
}

// Begins anew from the counters. A queue without events has nothing to compare with.
void Verifier::give_up(Queue& queue) {
  if (queue.in.by_events + queue.out.by_events == 0) {
    queue.suspected = 0;
    queue.base_in = {};
    queue.base_out = {};
    return;
  }
  const Pending& first = queue.suspect;
  const auto base = [](const Base& known) {
    return known.high != INT64_MAX ? known.high : known.low;
  };
  const std::int64_t in = base(queue.base_in) + static_cast<std::int64_t>(first.in_now);
  const std::int64_t out = base(queue.base_out) + static_cast<std::int64_t>(first.out_now);
  ++found_;
  queue.comparison.different += queue.suspected;
  if (discrepancies_.size() < kMaxListed)
    discrepancies_.push_back({.queue = first.sample.queue,
                              .since_ns = queue.agreed_ns,
                              .ts_ns = first.ts_ns,
                              .until_ns = first.ts_ns + first.sample.span_ns + kRace,
                              .samples = queue.suspected,
                              .sampled_depth = first.sample.depth(),
                              .event_depth = in - out});
  queue.suspected = 0;
  queue.base_in = {};
  queue.base_out = {};
}

// A loss that took no sequence number has no time.
bool Verifier::lost_between(std::uint64_t from_ns, std::uint64_t to_ns) const {
  return std::ranges::any_of(reader_->gaps(),
                             [&](const trace::Gap& gap) {
                               return gap.after_ns <= to_ns && gap.before_ns >= from_ns;
                             }) ||
         std::ranges::any_of(reader_->ledger(), [&](const model::LedgerEntry& entry) {
           return entry.count != 0 && !model::takes_sequence_number(entry.cause);
         });
}

void Verifier::finish() {
  for (auto& [id, queue] : queues_) {
    resolve(queue, UINT64_MAX);
    if (queue.suspected != 0) give_up(queue);
    if (!queue.has_first || queue.in.by_events + queue.out.by_events == 0) continue;
    CounterComparison& comparison = queue.comparison;
    comparison.id = id;
    comparison.in_by_events = queue.last.in_now - queue.first.in_now;
    comparison.out_by_events = queue.last.out_now - queue.first.out_now;
    comparison.in_by_counters = queue.last.sample.in - queue.first.sample.in;
    comparison.out_by_counters = queue.last.sample.out - queue.first.sample.out;
    comparisons_.push_back(comparison);
  }
  std::ranges::sort(comparisons_, {}, &CounterComparison::id);
  std::ranges::sort(discrepancies_, {}, &Discrepancy::ts_ns);
  for (Discrepancy& one : discrepancies_)
    one.events_lost = lost_between(one.since_ns, one.until_ns);
}

}  // namespace sojourn::queues
