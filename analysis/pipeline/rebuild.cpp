#include "analysis/pipeline/rebuild.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/pipeline/call_log.h"
#include "analysis/pipeline/partitions.h"
#include "analysis/pipeline/replay.h"
#include "analysis/pipeline/trace_marks.h"

namespace sojourn::pipeline {

namespace {

// The pieces of work under way, by slot.
struct Item {
  model::EventBatch events;
  bool is_end = false;  // behind the last events
};
using Items = std::array<Item, Executor::kSlots>;

// Puts all events of the trace into slots, and then the end.
Result<void> read_all(trace::Reader& reader, Items& items, const Pipeline::Put& put) {
  auto read = reader.merge([&](model::EventBatch& batch) {
    return put([&](Pipeline::Slot slot) { std::swap(items[slot].events, batch); });
  });
  put([&](Pipeline::Slot slot) { items[slot].is_end = true; });
  return read;
}

// Announces each batch that is done. A listener that returns false ends the pass.
class Announcer {
 public:
  Announcer(const Listeners& listeners, const trace::Reader& reader)
      : listeners_(listeners), reader_(reader) {}

  bool announce(const model::EventBatch& events) {
    done_ += events.size();
    if (listeners_.progress) listeners_.progress(done_, reader_.events());
    return !listeners_.consume || listeners_.consume(events);
  }

 private:
  const Listeners& listeners_;
  const trace::Reader& reader_;
  std::uint64_t done_ = 0;
};

journeys::Rebuilder rebuilder_of(const TraceInput& input, const journeys::Rules& rules,
                                 journeys::Observer& observer,
                                 std::optional<journeys::Partition> part) {
  return journeys::Rebuilder::create_for(input.shared_topology(), rules,
                                         capture_marks_of(input.reader()), observer, part);
}

// Records the calls for a part of an observer. For shares of a direction it writes down who enters
// and leaves a place, because only all shares together know the depth.
class PartRecorder : public journeys::Observer {
 public:
  PartRecorder(std::unique_ptr<DivisibleObserver> part, bool is_share)
      : part_(std::move(part)), is_share_(is_share) {}

  void set_turn(const journeys::Turn& turn) { turn_ = &turn; }
  CallLog& log() { return log_; }
  DivisibleObserver& part() { return *part_; }

  bool wants_steps() const override { return part_->wants_steps(); }
  bool wants_order() const override { return !is_share_ && part_->wants_order(); }
  void on_events(const model::EventBatch& events) override { part_->on_events(events); }
  void on_journey(const journeys::Journey& journey) override { part_->on_journey(journey); }
  void on_stay(const journeys::Stay& stay) override { part_->on_stay(stay); }
  void on_enter(std::uint16_t place, std::uint64_t ts_ns) override {
    if (is_share_)
      log_.add(*turn_, {.ts_ns = ts_ns, .place = place, .kind = Call::Kind::kEnter});
    else
      part_->on_enter(place, ts_ns);
  }
  void on_leave(std::uint16_t place, std::uint64_t entered_ns, std::uint64_t ts_ns,
                bool seen) override {
    const auto kind = seen ? Call::Kind::kLeave : Call::Kind::kGiveUp;
    if (is_share_)
      log_.add(*turn_, {.ts_ns = ts_ns, .entered_ns = entered_ns, .place = place, .kind = kind});
    else
      part_->on_leave(place, entered_ns, ts_ns, seen);
  }

 private:
  std::unique_ptr<DivisibleObserver> part_;
  bool is_share_;
  const journeys::Turn* turn_ = nullptr;
  CallLog log_;
};

// A rebuilder in a thread of its own, with a log of its calls for each item. The recorder is one of
// the two above.
template <typename Recorder>
class Worker {
 public:
  template <typename... Args>
  explicit Worker(Args&&... args) : recorder_(std::forward<Args>(args)...) {}

  void prepare(const TraceInput& input, const journeys::Rules& rules,
               std::optional<journeys::Partition> part) {
    rebuilder_ = rebuilder_of(input, rules, recorder_, part);
    recorder_.set_turn(rebuilder_->turn());
  }

  void work_on(const Item& item, Pipeline::Slot slot) {
    if (item.is_end)
      rebuilder_->finish();
    else
      rebuilder_->consume(item.events);
    std::swap(logs_[slot], recorder_.log());
    recorder_.log().clear();
  }

  CallLog& log(Pipeline::Slot slot) { return logs_[slot]; }
  Recorder& recorder() { return recorder_; }
  const journeys::Totals& totals() const { return rebuilder_->totals(); }

 private:
  Recorder recorder_;
  std::optional<journeys::Rebuilder> rebuilder_;
  std::array<CallLog, Executor::kSlots> logs_;
};

template <typename Recorder>
using Workers = std::vector<std::unique_ptr<Worker<Recorder>>>;

// Adds up the totals of rebuilders that saw the same events, each for its own directions.
journeys::Totals joined(journeys::Totals all, const journeys::Totals& part) {
  all.expired_by_reuse += part.expired_by_reuse;
  all.expired_by_time += part.expired_by_time;
  all.expired_by_memory += part.expired_by_memory;
  all.crowded += part.crowded;
  all.mixed_senders |= part.mixed_senders;
  all.missing_pieces += part.missing_pieces;
  all.peak_units += part.peak_units;
  for (std::size_t point = 0; point < all.points.size(); ++point) {
    all.points[point].control += part.points[point].control;
    all.points[point].repeats += part.points[point].repeats;
    all.points[point].cut += part.points[point].cut;
    all.points[point].orphans += part.points[point].orphans;
    all.points[point].ambiguous += part.points[point].ambiguous;
  }
  for (std::size_t pair = 0; pair < all.lengths_differ.size(); ++pair)
    if (part.lengths_differ[pair]) all.lengths_differ[pair] = true;
  return all;
}

// Each part gets a fixed share of the memory limit, so that the result does not depend on which is
// faster.
journeys::Rules rules_of_each(const TraceInput& input, std::span<const journeys::Partition> parts) {
  journeys::Rules rules = input.rules();
  if (!parts.empty())
    rules.max_units =
        std::max<std::size_t>(rules.max_units / directions_of(input.topology()).size(), 1);
  return rules;
}

// Reads the trace once for all workers, and replays their calls in the caller's thread.
// `observer_here` is the observer that gets all calls and the events there; it is null if parts of
// the observer got them elsewhere.
template <typename Recorder>
Result<journeys::Totals> run(Executor& executor, TraceInput& input, Workers<Recorder>& workers,
                             Replay& replay, const Listeners& listeners,
                             journeys::Observer* observer_here) {
  Items items;
  Result<void> read;
  Announcer announcer(listeners, input.reader());
  std::vector<CallLog*> logs(workers.size());
  Pipeline pipeline;
  pipeline.make = [&](const Pipeline::Put& put) { read = read_all(input.reader(), items, put); };
  for (const auto& worker : workers)
    pipeline.workers.push_back([&items, worker = worker.get()](Pipeline::Slot slot) {
      worker->work_on(items[slot], slot);
    });
  pipeline.finish = [&](Pipeline::Slot slot) {
    std::ranges::transform(workers, logs.begin(),
                           [slot](const auto& worker) { return &worker->log(slot); });
    // At the end a slot has events that were already reported.
    const auto& [events, is_end] = items[slot];
    if (observer_here != nullptr && !is_end) observer_here->on_events(events);
    replay.replay(logs);
    if (!is_end) return announcer.announce(events);
    replay.end();
    return true;
  };
  executor.run(pipeline);
  SJ_CHECK(read);
  journeys::Totals totals = workers.front()->totals();
  for (std::size_t who = 1; who < workers.size(); ++who)
    totals = joined(std::move(totals), workers[who]->totals());
  return totals;
}

}  // namespace

Result<journeys::Totals> read_events(Executor& executor, trace::Reader& reader,
                                     const Listeners& listeners) {
  Items items;
  Result<void> read;
  Announcer announcer(listeners, reader);
  journeys::Totals totals;
  const auto finish = [&](Pipeline::Slot slot) {
    const auto& [events, is_end] = items[slot];
    if (is_end) return true;
    if (!events.empty()) {
      if (totals.events == 0) totals.first_ns = events.ts_ns().front();
      totals.last_ns = events.ts_ns().back();
      totals.events += events.size();
    }
    return announcer.announce(events);
  };
  executor.run({.make = [&](const Pipeline::Put& put) { read = read_all(reader, items, put); },
                .workers = {},
                .finish = finish});
  SJ_CHECK(read);
  return totals;
}

Result<journeys::Totals> rebuild(Executor& executor, TraceInput& input,
                                 std::span<const journeys::Partition> parts,
                                 journeys::Observer& observer, const Listeners& listeners) {
  const journeys::Rules rules = rules_of_each(input, parts);
  Workers<CallRecorder> workers;
  for (std::size_t who = 0; who < std::max<std::size_t>(parts.size(), 1); ++who) {
    workers.push_back(std::make_unique<Worker<CallRecorder>>(observer, parts.empty()));
    std::optional<journeys::Partition> part;
    if (!parts.empty()) part = parts[who];
    workers.back()->prepare(input, rules, part);
  }
  Replay replay(observer, rules.late_ns, workers.size(),
                parts.empty() ? Replay::Order::kSingle : Replay::Order::kOfTurns);
  return run(executor, input, workers, replay, listeners, &observer);
}

Result<journeys::Totals> rebuild_divided(Executor& executor, TraceInput& input,
                                         std::span<const journeys::Partition> parts,
                                         DivisibleObserver& observer, const Listeners& listeners) {
  const journeys::Rules rules = rules_of_each(input, parts);
  Workers<PartRecorder> workers;
  for (const auto& part : parts) {
    const bool is_share = part.end - part.begin != part.shares;
    workers.push_back(std::make_unique<Worker<PartRecorder>>(observer.new_part(), is_share));
    workers.back()->prepare(input, rules, part);
  }
  Replay replay(observer, rules.late_ns, workers.size(), Replay::Order::kOfPosition);
  SJ_TRY(totals, run(executor, input, workers, replay, listeners, nullptr));
  for (const auto& worker : workers) observer.merge_part(worker->recorder().part());
  return totals;
}

Result<journeys::Totals> rebuild_here(Executor& executor, TraceInput& input,
                                      journeys::Observer& observer, const Listeners& listeners) {
  auto rebuilder = rebuilder_of(input, input.rules(), observer, std::nullopt);
  Items items;
  Result<void> read;
  Announcer announcer(listeners, input.reader());
  const auto work = [&](Pipeline::Slot slot) {
    const auto& [events, is_end] = items[slot];
    if (is_end) {
      rebuilder.finish();
      return true;
    }
    rebuilder.consume(events);
    return announcer.announce(events);
  };
  executor.run(
      {.make = [&](const Pipeline::Put& put) { read = read_all(input.reader(), items, put); },
       .workers = {},
       .finish = work});
  SJ_CHECK(read);
  return rebuilder.totals();
}

}  // namespace sojourn::pipeline
