#include "analysis/report/rebuild.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "analysis/report/broadcast_queue.h"
#include "analysis/report/place_changes.h"
#include "analysis/report/trace_marks.h"

namespace sojourn::report {

namespace {

// So many shares that eight processors are busy with two directions; and of events so many that
// each share soon knows what others do.
constexpr std::uint32_t kSharesOfDirection = 4;
constexpr std::uint64_t kWorthSharing = 10'000'000;

using Events = BroadcastQueue<model::EventBatch>;

// What the first of several threads threw that did, as when memory runs out, for the one that waits
// for them all.
class Failure {
 public:
  // Runs a thread. Where it throws, `stop` is to end everybody who would wait for it.
  template <typename Work, typename Stop>
  void keep_of(Work work, Stop stop) {
    try {
      work();
    } catch (...) {
      keep(std::current_exception());
      stop();
    }
  }

  // When all of them have ended.
  void rethrow() {
    const std::lock_guard lock(mutex_);
    if (first_) std::rethrow_exception(first_);
  }

 private:
  void keep(std::exception_ptr thrown) {
    const std::lock_guard lock(mutex_);
    if (!first_) first_ = std::move(thrown);
  }

  std::mutex mutex_;
  std::exception_ptr first_;
};

// Runs `work` while another thread puts all events on the broadcast queue. Where one of the two
// throws, `stop` is to end everybody who waits.
template <typename Work, typename Stop>
Result<void> read_meanwhile(trace::Reader& reader, Events& events, Work work, Stop stop) {
  Result<void> read;
  Failure failure;
  const auto read_all = [&] {
    read = reader.merge([&](model::EventBatch& batch) { return events.put(batch); });
    events.end();
  };
  {
    const std::jthread reading([&] { failure.keep_of(read_all, stop); });
    try {
      work();
    } catch (...) {
      stop();  // else the reader would wait for this thread, and this one for its end
      throw;
    }
  }
  failure.rethrow();
  return read;
}

// A part of the journeys, rebuilt in a thread of its own.
class Worker {
 public:
  Worker(const trace::Reader& reader, const journeys::Topology& topology,
         const journeys::Partition& part) {
    const auto open_ns = reader.capture().open_ns;
    if (part.end - part.begin == part.shares) {
      summary_ = std::make_unique<Summary>(topology, open_ns);
      return;
    }
    auto partial = std::make_unique<PartialSummary>(topology, open_ns);
    partial_ = partial.get();
    summary_ = std::move(partial);
  }

  Result<void> prepare(const trace::Reader& reader, const journeys::Rules& rules,
                       const journeys::Partition& part) {
    SJ_TRY(rebuilder, journeys::Rebuilder::create(reader.schema(), rules, capture_marks_of(reader),
                                                  *summary_, part));
    rebuilder_ = std::move(rebuilder);
    if (partial_ != nullptr) partial_->set_position(rebuilder_->position());
    return {};
  }

  // `after(batch)`, of each batch.
  template <typename After>
  void run(Events& events, std::size_t who, After after) {
    while (const auto* batch = events.next(who)) {
      rebuilder_->consume(*batch);
      hand_on();
      after(*batch);
    }
    if (!events.stopped()) {
      rebuilder_->finish();
      hand_on();
    }
    changes_.end();
  }
  void stop() { changes_.stop(); }
  bool shares_direction() const { return partial_ != nullptr; }

  // Who entered and left at the events of the next batch, and last at the end; none of a direction
  // that it has alone.
  std::span<const PlaceChange> next_changes() {
    const auto* const changes = partial_ != nullptr ? changes_.next(0) : nullptr;
    return changes != nullptr ? std::span(*changes) : std::span<const PlaceChange>();
  }
  Summary& summary() { return *summary_; }
  const journeys::Totals& totals() const { return rebuilder_->totals(); }

 private:
  void hand_on() {
    if (partial_ == nullptr) return;
    changes_.put(partial_->changes());
    partial_->changes().clear();
  }

  std::unique_ptr<Summary> summary_;
  PartialSummary* partial_ = nullptr;
  std::optional<journeys::Rebuilder> rebuilder_;
  BroadcastQueue<PlaceChanges> changes_{1};
};

// Of several that saw the same events, each of its own part.
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

bool has_units(const journeys::Topology& topology, model::Direction direction) {
  return std::ranges::any_of(topology.points, [direction](const journeys::PointPlan& plan) {
    return plan.carries_units && plan.direction == direction;
  });
}

std::vector<model::Direction> directions_of(const journeys::Topology& topology) {
  std::vector<model::Direction> directions;
  for (const auto direction : {model::Direction::kDownlink, model::Direction::kUplink})
    if (has_units(topology, direction)) directions.push_back(direction);
  return directions;
}

}  // namespace

Result<journeys::Totals> rebuild(trace::Reader& reader, const journeys::Rules& rules,
                                 journeys::Observer& observer, const Progress& progress,
                                 const Consume& consume) {
  SJ_TRY(rebuilder,
         journeys::Rebuilder::create(reader.schema(), rules, capture_marks_of(reader), observer));
  Events events(1);
  const auto work = [&] {
    std::uint64_t done = 0;
    while (const auto* batch = events.next(0)) {
      rebuilder.consume(*batch);
      done += batch->size();
      progress(done, reader.events());
      if (!consume(*batch)) events.stop();
    }
    if (!events.stopped()) rebuilder.finish();
  };
  SJ_CHECK(read_meanwhile(reader, events, work, [&] { events.stop(); }));
  return rebuilder.totals();
}

// Depths begin with the capture: where that is not known, with the first event of any direction.
// And of what came before, all events say how far a thread's reach back.
bool can_partition(const trace::Reader& reader) {
  const auto open_ns = reader.capture().open_ns;
  return open_ns != 0 &&
         std::ranges::none_of(reader.blocks(), [open_ns](const trace::BlockInfo& block) {
           return block.min_ts_ns < open_ns;
         });
}

std::vector<journeys::Partition> partitions_of(const journeys::Topology& topology,
                                               std::uint64_t events, unsigned processors) {
  const auto directions = directions_of(topology);
  std::vector<journeys::Partition> parts;
  for (const auto direction : directions) {
    const bool shared = events >= kWorthSharing && topology.is_divisible(direction);
    const auto shares = shared ? kSharesOfDirection : 1;
    auto threads = shares;
    while (threads > 1 && threads * directions.size() > processors) threads /= 2;
    for (std::uint32_t thread = 0; thread < threads; ++thread)
      parts.push_back({.direction = direction,
                       .shares = shares,
                       .begin = thread * shares / threads,
                       .end = (thread + 1) * shares / threads});
  }
  return parts;
}

Result<journeys::Totals> rebuild_partitioned(trace::Reader& reader, const journeys::Rules& rules,
                                             std::span<const journeys::Partition> parts,
                                             Summary& summary, const Progress& progress,
                                             const Consume& consume) {
  SJ_TRY(topology, journeys::Topology::derive(reader.schema(), rules));
  // What may be in memory at once is shared out, so that it does not depend on who is faster.
  auto rules_of_each = rules;
  rules_of_each.max_units =
      std::max<std::size_t>(rules.max_units / directions_of(topology).size(), 1);
  std::vector<std::unique_ptr<Worker>> workers;
  for (const auto& part : parts) {
    workers.push_back(std::make_unique<Worker>(reader, topology, part));
    SJ_CHECK(workers.back()->prepare(reader, rules_of_each, part));
  }
  // Who shares a direction tells this thread; else there is nothing to do here but the last part.
  const bool shared =
      std::ranges::any_of(workers, [](const auto& worker) { return worker->shares_direction(); });
  const auto threads_beside = shared ? workers.size() : workers.size() - 1;
  Events events(threads_beside + 1);
  const auto stop = [&] {
    events.stop();
    for (const auto& worker : workers) worker->stop();
  };
  journeys::PlaceChangeSorter places(summary, rules.late_ns);
  places.begin_wait();  // any of them may have an event that waits
  const auto tell_changes = [&] {
    std::vector<std::span<const PlaceChange>> changes;
    changes.reserve(workers.size());
    for (const auto& worker : workers) changes.push_back(worker->next_changes());
    replay_in_order(std::move(changes), places);
  };
  Failure failure;
  std::vector<std::jthread> threads;
  const auto work = [&] {
    for (std::size_t who = 0; who < threads_beside; ++who)
      threads.emplace_back([&, who] {
        failure.keep_of([&] { workers[who]->run(events, who, [](const auto&) {}); }, stop);
      });
    std::uint64_t done = 0;
    const auto after = [&](const model::EventBatch& batch) {
      done += batch.size();
      progress(done, reader.events());
      if (!consume(batch)) stop();
    };
    if (!shared) {
      workers.back()->run(events, threads_beside, after);
      return;
    }
    while (const auto* batch = events.next(threads_beside)) {
      tell_changes();
      after(*batch);
    }
    tell_changes();
    places.end_wait();
  };
  SJ_CHECK(read_meanwhile(reader, events, work, stop));
  threads.clear();
  failure.rethrow();
  auto totals = workers.front()->totals();
  for (std::size_t who = 0; who < workers.size(); ++who) {
    summary.merge(std::move(workers[who]->summary()));
    if (who != 0) totals = joined(std::move(totals), workers[who]->totals());
  }
  return totals;
}

}  // namespace sojourn::report
