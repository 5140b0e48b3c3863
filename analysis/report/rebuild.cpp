#include "analysis/report/rebuild.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "analysis/pipeline/trace_marks.h"
#include "analysis/report/place_changes.h"

namespace sojourn::report {

namespace {

// So many shares that eight processors are busy with two directions; and of events so many that
// each share soon knows what others do.
constexpr std::uint32_t kSharesOfDirection = 4;
constexpr std::uint64_t kWorthSharing = 10'000'000;

// What is under way, by its slot.
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

// A part of the journeys, rebuilt apart from the others.
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
    SJ_TRY(rebuilder,
           journeys::Rebuilder::create(reader.schema(), rules, pipeline::capture_marks_of(reader),
                                       *summary_, part));
    rebuilder_ = std::move(rebuilder);
    if (partial_ != nullptr) partial_->set_position(rebuilder_->position());
    return {};
  }

  void work_on(const Item& item, Pipeline::Slot slot) {
    if (item.is_end)
      rebuilder_->finish();
    else
      rebuilder_->consume(item.events);
    if (partial_ == nullptr) return;
    std::swap(changes_[slot], partial_->changes());
    partial_->changes().clear();
  }

  // Who entered and left at the events of an item, and last at the end; none of a direction that it
  // has alone.
  std::span<const PlaceChange> changes(Pipeline::Slot slot) const { return changes_[slot]; }
  Summary& summary() { return *summary_; }
  const journeys::Totals& totals() const { return rebuilder_->totals(); }

 private:
  std::unique_ptr<Summary> summary_;
  PartialSummary* partial_ = nullptr;
  std::optional<journeys::Rebuilder> rebuilder_;
  std::array<PlaceChanges, Executor::kSlots> changes_;
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

Result<journeys::Totals> rebuild(Executor& executor, trace::Reader& reader,
                                 const journeys::Rules& rules, journeys::Observer& observer,
                                 const Progress& progress, const Consume& consume) {
  SJ_TRY(rebuilder, journeys::Rebuilder::create(reader.schema(), rules,
                                                pipeline::capture_marks_of(reader), observer));
  Items items;
  Result<void> read;
  std::uint64_t done = 0;
  const auto work = [&](Pipeline::Slot slot) {
    const auto& [events, is_end] = items[slot];
    if (is_end) {
      rebuilder.finish();
      return true;
    }
    rebuilder.consume(events);
    done += events.size();
    progress(done, reader.events());
    return consume(events);
  };
  executor.run({.make = [&](const Pipeline::Put& put) { read = read_all(reader, items, put); },
                .workers = {},
                .finish = work});
  SJ_CHECK(read);
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

Result<journeys::Totals> rebuild_partitioned(Executor& executor, trace::Reader& reader,
                                             const journeys::Rules& rules,
                                             std::span<const journeys::Partition> parts,
                                             Summary& summary, const Progress& progress,
                                             const Consume& consume) {
  SJ_TRY(topology, journeys::Topology::derive(reader.schema(), rules));
  // What may be in memory at once is shared out, so that it does not depend on who is faster.
  auto rules_of_each = rules;
  rules_of_each.max_units =
      std::max<std::size_t>(rules.max_units / directions_of(topology).size(), 1);
  Items items;
  Result<void> read;
  Pipeline pipeline;
  pipeline.make = [&](const Pipeline::Put& put) { read = read_all(reader, items, put); };
  std::vector<std::unique_ptr<Worker>> workers;
  for (const auto& part : parts) {
    workers.push_back(std::make_unique<Worker>(reader, topology, part));
    SJ_CHECK(workers.back()->prepare(reader, rules_of_each, part));
    pipeline.workers.push_back([&items, worker = workers.back().get()](Pipeline::Slot slot) {
      worker->work_on(items[slot], slot);
    });
  }
  // Who shares a direction tells the caller's thread.
  journeys::PlaceChangeSorter places(summary, rules.late_ns);
  places.begin_wait();  // any of them may have an event that waits
  std::uint64_t done = 0;
  pipeline.finish = [&](Pipeline::Slot slot) {
    std::vector<std::span<const PlaceChange>> changes;
    changes.reserve(workers.size());
    for (const auto& worker : workers) changes.push_back(worker->changes(slot));
    replay_in_order(std::move(changes), places);
    const auto& [events, is_end] = items[slot];
    if (is_end) {
      places.end_wait();
      return true;
    }
    done += events.size();
    progress(done, reader.events());
    return consume(events);
  };
  executor.run(pipeline);
  SJ_CHECK(read);
  auto totals = workers.front()->totals();
  for (std::size_t who = 0; who < workers.size(); ++who) {
    summary.merge(std::move(workers[who]->summary()));
    if (who != 0) totals = joined(std::move(totals), workers[who]->totals());
  }
  return totals;
}

Result<journeys::Totals> rebuild_summary(Executor& executor, trace::Reader& reader,
                                         const journeys::Topology& topology,
                                         const journeys::Rules& rules, unsigned processors,
                                         Summary& summary, const Progress& progress,
                                         const Consume& consume) {
  const auto parts = partitions_of(topology, reader.events(), processors);
  if (parts.empty() || !can_partition(reader))
    return rebuild(executor, reader, rules, summary, progress, consume);
  return rebuild_partitioned(executor, reader, rules, parts, summary, progress, consume);
}

}  // namespace sojourn::report
