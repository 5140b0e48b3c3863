#include "analysis/report/rebuild.h"

#include <algorithm>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "analysis/report/conveyor.h"

namespace sojourn::report {

namespace {

struct StreamEnd {
  std::uint64_t events = 0;
  std::uint64_t next_seq = 0;
  std::uint64_t last_ns = 0;
};

// Losses after a stream's last event leave no gap: the ledger counts more than its numbers show.
std::vector<journeys::LossSpan> losses_at_the_end(const trace::Reader& reader) {
  std::map<std::uint32_t, StreamEnd> ends;
  for (const auto& block : reader.blocks()) {
    auto& end = ends[block.stream];
    end.events += block.events;
    end.next_seq = std::max(end.next_seq, block.last_seq + 1);
    end.last_ns = std::max(end.last_ns, block.max_ts_ns);
  }
  std::map<std::uint32_t, std::uint64_t> lost;
  for (const auto& entry : reader.ledger())
    if (entry.cause != model::LossCause::kFiltered) lost[entry.stream] += entry.count;
  for (const auto& stream : reader.streams())
    if (!model::carries_points(stream.engine)) lost.erase(stream.id);
  const auto& firsts = reader.capture().stream_first;
  std::vector<journeys::LossSpan> spans;
  for (const auto& [stream, count] : lost) {
    const auto& end = ends[stream];
    const std::uint64_t first = stream < firsts.size() ? firsts[stream] : 0;
    if (count == 0 || first + end.events + count <= end.next_seq) continue;
    spans.push_back({std::max(end.last_ns, reader.capture().open_ns), UINT64_MAX});
  }
  return spans;
}

journeys::Marks marks_of(const trace::Reader& reader) {
  std::vector<journeys::LossSpan> losses = losses_at_the_end(reader);
  for (const auto& span : reader.capture().shed)
    losses.push_back({span.from_ns, span.until_ns == 0 ? UINT64_MAX : span.until_ns});
  for (const auto& span : reader.capture().unarmed) losses.push_back({span.from_ns, span.until_ns});
  return {.open_ns = reader.capture().open_ns,
          .close_ns = reader.capture().close_ns,
          .first_seqs = reader.capture().stream_first,
          .losses = std::move(losses),
          .groups = model::groups_of(reader.streams(), reader.targets())};
}

using Rebuilders = std::vector<journeys::Rebuilder>;
using Consume = std::function<bool(const model::EventBatch&)>;

// One thread reads, the others rebuild, each its part of every batch; the last of those is this
// one.
Result<void> run(trace::Reader& reader, Rebuilders& rebuilders, const Progress& progress,
                 const Consume& consume) {
  Conveyor conveyor(rebuilders.size());
  const auto work = [&](std::size_t part, const Consume& after) {
    while (const auto* events = conveyor.next(part)) {
      rebuilders[part].consume(*events);
      if (!after(*events)) conveyor.stop();
    }
    if (!conveyor.stopped()) rebuilders[part].finish();
  };
  Result<void> read;
  {
    std::vector<std::jthread> threads;
    threads.emplace_back([&] {
      read = reader.merge([&](model::EventBatch& events) { return conveyor.put(events); });
      conveyor.end();
    });
    for (std::size_t part = 0; part + 1 < rebuilders.size(); ++part)
      threads.emplace_back([&, part] { work(part, [](const auto&) { return true; }); });
    const auto whole = reader.events();
    std::uint64_t done = 0;
    try {
      work(rebuilders.size() - 1, [&](const model::EventBatch& events) {
        done += events.size();
        progress(done, whole);
        return consume(events);
      });
    } catch (...) {
      conveyor.stop();  // else the others would wait for this one, and this one for their end
      throw;
    }
  }
  return read;
}

// Of two that saw the same events, each of its own direction.
journeys::Totals joined(const model::Schema& schema, const journeys::Topology& topology,
                        journeys::Totals down, const journeys::Totals& up) {
  down.expired_by_reuse += up.expired_by_reuse;
  down.expired_by_time += up.expired_by_time;
  down.expired_by_memory += up.expired_by_memory;
  down.crowded += up.crowded;
  down.mixed_senders |= up.mixed_senders;
  down.missing_pieces += up.missing_pieces;
  down.peak_units += up.peak_units;
  for (std::size_t point = 0; point < schema.points.size(); ++point)
    if (schema.points[point].direction == model::Direction::kUplink)
      down.points[point] = up.points[point];
  for (std::size_t pair = 0; pair < down.lengths_differ.size(); ++pair)
    if (schema.points[topology.pairs[pair].child].direction == model::Direction::kUplink)
      down.lengths_differ[pair] = up.lengths_differ[pair];
  return down;
}

}  // namespace

Result<journeys::Totals> rebuild(trace::Reader& reader, const journeys::Rules& rules,
                                 journeys::Observer& observer, const Progress& progress,
                                 const std::function<bool(const model::EventBatch&)>& consume) {
  Rebuilders rebuilders;
  SJ_TRY(rebuilder,
         journeys::Rebuilder::create(reader.schema(), rules, marks_of(reader), observer));
  rebuilders.push_back(std::move(rebuilder));
  SJ_CHECK(run(reader, rebuilders, progress, consume));
  return rebuilders.front().totals();
}

bool can_rebuild_apart(const journeys::Topology& topology) {
  const auto has = [&](model::Direction direction) {
    return std::ranges::any_of(topology.points, [direction](const journeys::PointPlan& plan) {
      return plan.carries_units && plan.direction == direction;
    });
  };
  return has(model::Direction::kDownlink) && has(model::Direction::kUplink);
}

Result<journeys::Totals> rebuild_apart(
    trace::Reader& reader, const journeys::Rules& rules, journeys::Observer& down,
    journeys::Observer& up, const Progress& progress,
    const std::function<bool(const model::EventBatch&)>& consume) {
  // What may be in memory at once is shared out, so that it does not depend on who is faster.
  auto halved = rules;
  halved.max_units = std::max<std::size_t>(rules.max_units / 2, 1);
  Rebuilders rebuilders;
  for (const auto direction : {model::Direction::kDownlink, model::Direction::kUplink}) {
    auto& observer = direction == model::Direction::kDownlink ? down : up;
    SJ_TRY(rebuilder, journeys::Rebuilder::create(reader.schema(), halved, marks_of(reader),
                                                  observer, direction));
    rebuilders.push_back(std::move(rebuilder));
  }
  SJ_CHECK(run(reader, rebuilders, progress, consume));
  return joined(reader.schema(), rebuilders.front().topology(), rebuilders.front().totals(),
                rebuilders.back().totals());
}

}  // namespace sojourn::report
