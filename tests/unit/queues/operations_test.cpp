// Queues from the events of their operations.
#include "analysis/queues/operations.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

namespace sojourn::queues {
namespace {

using Catch::Approx;

struct World {
  model::Schema schema{{*model::parse_point("I queue--enqueue", "depth:queue:item"),
                        *model::parse_point("I queue--dequeue", "depth:queue:item"),
                        *model::parse_point("I other", "depth:queue:")}};
  model::EventBatch events;

  // `depth`: the depth after it, in the target's point.
  void hit(std::uint64_t ts_ns, model::PointId point, std::uint64_t queue, std::uint64_t item,
           std::uint64_t depth, std::uint32_t tid = 1) {
    const std::vector<std::uint64_t> values = {depth, queue, item};
    events.append({.ts_ns = ts_ns,
                   .seq = events.size(),
                   .stream = 0,
                   .tid = tid,
                   .point = point,
                   .values = values});
  }
};

Operations operations_of(const World& world, const model::QueueChanges& changes = {},
                         ItemSelection selection = {}) {
  Operations operations(world.schema, changes, 50, std::move(selection));
  operations.consume(world.events);
  operations.finish(1000);
  return operations;
}

TEST_CASE("items are identified by their numbers, in any order of leaving") {
  World world;
  world.hit(100, 0, 7, 1, 1);
  world.hit(200, 0, 7, 2, 2);
  world.hit(300, 1, 7, 2, 1);
  world.hit(500, 1, 7, 1, 0);
  world.hit(550, 0, 8, 1, 1);
  world.hit(600, 2, 7, 3, 9);
  model::QueueChanges changes(1);
  changes[0].about = {.id = 7, .name = "rx", .producer = {}, .consumer = {}, .capacity = 2};
  const Operations operations = operations_of(world, changes);
  const auto queues = operations.queues();
  REQUIRE(queues.size() == 2);
  CHECK(queues[0]->about.name == "rx");
  const Meter& meter = queues[0]->meter;
  CHECK(meter.in() == 2);
  CHECK(meter.waits_ns().max() == 400);
  CHECK(meter.waits_ns().min() == 100);
  CHECK(meter.high_water().depth == 2);
  CHECK(meter.levels().at_ns(2) == 100);
  CHECK(meter.levels().at_ns(0) == 550);
  CHECK(queues[0]->unseen_in == 0);
  CHECK(queues[0]->unseen_out == 0);
  CHECK(queues[1]->about.id == 8);
  CHECK(queues[1]->meter.depth() == 1);
}

TEST_CASE("items that were there before count from the beginning, and leave without a wait") {
  World world;
  world.hit(100, 1, 7, 1, 2);  // of three
  world.hit(200, 0, 7, 2, 3);
  world.hit(260, 1, 7, 2, 2);
  world.hit(300, 1, 7, 3, 1);
  const Operations operations = operations_of(world);
  const Meter& meter = operations.queues().front()->meter;
  CHECK(meter.levels().at_ns(3) == 50 + 60);
  CHECK(meter.levels().at_ns(1) == 700);
  CHECK(meter.high_water().depth == 3);
  CHECK(meter.high_water().ts_ns == 50);
  CHECK(meter.out() == 3);
  CHECK(meter.waits_ns().count() == 1);
  CHECK(meter.waits_ns().max() == 60);
  CHECK(operations.queues().front()->unseen_in == 0);
}

TEST_CASE("the items inside a queue when it was deepest are reported by their numbers") {
  World world;
  world.hit(100, 0, 7, 1, 1);
  world.hit(110, 0, 7, 2, 2);  // a mark that is passed later
  world.hit(120, 1, 7, 1, 1);
  world.hit(130, 0, 7, 3, 2);
  world.hit(140, 0, 7, 4, 3);
  world.hit(150, 1, 7, 3, 2);
  world.hit(160, 0, 7, 5, 3);
  world.hit(170, 1, 7, 2, 2);
  const Operations operations = operations_of(world);
  const OperatedQueue& queue = *operations.queues().front();
  CHECK(queue.meter.high_water().ts_ns == 140);
  CHECK(queue.inside == 3);
  CHECK(queue.items == std::vector<std::uint64_t>{3, 2, 4});  // the last one never left
}

TEST_CASE("a selection of items has its own depth and waits, whatever else is inside") {
  World world;
  world.hit(100, 0, 7, 1, 1, 1);
  world.hit(200, 0, 7, 2, 2, 5);
  world.hit(300, 0, 7, 2, 3, 1);  // of the same number, and behind it
  world.hit(400, 0, 7, 3, 4, 5);
  world.hit(500, 1, 7, 1, 3, 9);
  world.hit(600, 1, 7, 2, 2, 9);  // the first of them, which counts
  world.hit(700, 1, 7, 2, 1, 9);
  world.hit(800, 1, 7, 3, 0, 9);
  world.hit(900, 0, 8, 1, 1, 1);  // a queue to which none of them comes
  const Operations operations = operations_of(
      world, {}, {.wants = [](const model::EventView& event) { return event.tid == 5; }});
  REQUIRE(operations.queues().size() == 1);
  const OperatedQueue& queue = *operations.queues().front();
  CHECK(queue.meter.in() == 2);
  CHECK(queue.meter.out() == 2);
  CHECK(queue.meter.levels().at_ns(2) == 200);
  CHECK(queue.meter.levels().at_ns(1) == 400);
  CHECK(queue.meter.waits_ns().count() == 2);
  CHECK(queue.meter.waits_ns().max() == 400);
  CHECK(queue.namesakes == 1);
  CHECK(queue.unseen_in == 0);
  CHECK(queue.fed_by == std::map<std::uint32_t, std::uint64_t>{{5, 2}});
  CHECK(queue.drained_by == std::map<std::uint32_t, std::uint64_t>{{9, 2}});
}

TEST_CASE("items of a span of time are followed beyond its end, and rates are of the span") {
  World world;
  world.hit(100, 0, 7, 1, 1);
  world.hit(250, 0, 7, 2, 2);
  world.hit(300, 1, 7, 1, 1);
  world.hit(900, 1, 7, 2, 0);
  const Operations operations = operations_of(
      world, {},
      {.wants =
           [](const model::EventView& event) { return event.ts_ns >= 200 && event.ts_ns <= 400; },
       .from_ns = 200,
       .until_ns = 400});
  const Meter& meter = operations.queues().front()->meter;
  CHECK(meter.in() == 1);
  CHECK(meter.levels().total_ns() == 200);
  CHECK(meter.levels().at_ns(1) == 150);
  CHECK(meter.waits_ns().max() == 650);
  CHECK(meter.arrivals_per_s() == Approx(1 / 200e-9));
}

TEST_CASE("operations without a counterpart are counted, and spoil no depth") {
  World world;
  world.hit(100, 0, 7, 1, 1);
  world.hit(200, 1, 7, 2, 1);  // its coming was lost
  world.hit(300, 0, 7, 1, 1);  // its leaving was lost
  world.hit(400, 1, 7, 1, 0);
  const Operations operations = operations_of(world);
  const OperatedQueue& queue = *operations.queues().front();
  CHECK(queue.unseen_in == 1);
  CHECK(queue.unseen_out == 1);
  CHECK(queue.namesakes == 0);
  CHECK(queue.meter.levels().at_ns(1) == 300);
  CHECK(queue.meter.levels().at_ns(0) == 650);
  CHECK(queue.meter.depth() == 0);
  CHECK(queue.meter.waits_ns().count() == 1);
  CHECK(queue.meter.waits_ns().max() == 100);
}

TEST_CASE("items of one number leave in the order in which they came, and spoil no depth") {
  World world;
  world.hit(100, 0, 7, 0, 1);
  world.hit(200, 0, 7, 0, 2);
  world.hit(300, 0, 7, 0, 3);
  world.hit(400, 1, 7, 0, 2);
  world.hit(600, 1, 7, 0, 1);
  world.hit(900, 1, 7, 0, 0);
  const Operations operations = operations_of(world);
  const OperatedQueue& queue = *operations.queues().front();
  CHECK(queue.namesakes == 2);
  CHECK(queue.unseen_in == 0);
  CHECK(queue.unseen_out == 0);
  CHECK(queue.meter.high_water().depth == 3);
  CHECK(queue.meter.levels().at_ns(3) == 100);
  CHECK(queue.meter.levels().at_ns(1) == 100 + 300);
  CHECK(queue.meter.levels().at_ns(0) == 50 + 100);
  CHECK(queue.meter.waits_ns().count() == 3);
  CHECK(queue.meter.waits_ns().min() == 300);
  CHECK(queue.meter.waits_ns().max() == 600);
}

TEST_CASE("a pool is measured by the items that are taken, and has no server") {
  World world;
  world.hit(150, 1, 7, 1, 3);  // one of four buffers is taken, of ten in all
  world.hit(250, 0, 7, 1, 4);
  model::QueueChanges changes(1);
  changes[0].about = {.id = 7,
                      .name = "buffers",
                      .kind = model::QueueKind::kPool,
                      .producer = {},
                      .consumer = {},
                      .capacity = 10};
  const Operations operations = operations_of(world, changes);
  const OperatedQueue& queue = *operations.queues().front();
  CHECK(queue.meter.levels().at_ns(7) == 100);
  CHECK(queue.meter.levels().at_ns(6) == 100 + 750);
  CHECK(queue.meter.waits_ns().max() == 100);
  CHECK(*queue.utilisation() == Approx((7 * 100 + 6 * 850) / 950.0 / 10));
  CHECK_FALSE(queue.predicted_ns());
}

TEST_CASE("a bidirectional queue has no server") {
  World world;
  world.hit(100, 0, 7, 1, 1);
  world.hit(200, 1, 7, 1, 0);
  model::QueueChanges changes(1);
  changes[0].about.id = 7;
  changes[0].about.kind = model::QueueKind::kBidirectional;
  const Operations operations = operations_of(world, changes);
  CHECK_FALSE(operations.queues().front()->utilisation());
  CHECK(operations.queues().front()->meter.utilisation());
}

TEST_CASE("items go on where the thread that takes them out puts most in") {
  World world;
  for (std::uint64_t item = 0; item < 20; ++item) {
    const std::uint64_t at = 100 + item * 10;
    world.hit(at, 0, 1, item, 1, 11);
    world.hit(at + 1, 1, 1, item, 0, 12);
    world.hit(at + 2, 0, 2, item, 1, 12);
    world.hit(at + 3, 1, 2, item, 0, 13);
    world.hit(at + 4, 0, 3, item, 1, item == 0 ? 12 : 13);  // once by another
    world.hit(at + 5, 1, 3, item, 0, 14);
    world.hit(at + 6, 0, 4, item, 1, 14);  // gives a buffer back
  }
  model::QueueChanges changes(1);
  changes[0].about.id = 4;
  changes[0].about.kind = model::QueueKind::kPool;
  changes[0].about.capacity = 100;
  const Operations operations = operations_of(world, changes);
  CHECK(operations.before() == std::vector<Operations::Before>{
                                   {}, {.first = {0}, .all = 1}, {.first = {1}, .all = 1}, {}});
  CHECK(operations.queues()[2]->fed_by ==
        std::map<std::uint32_t, std::uint64_t>{{12, 1}, {13, 19}});
  CHECK(operations.queues()[2]->drained_by == std::map<std::uint32_t, std::uint64_t>{{14, 20}});
}

TEST_CASE("if very many queues feed one, the first are listed and the others counted") {
  World world;
  for (std::uint64_t queue = 1; queue <= 20'000; ++queue) {
    world.hit(100 + queue * 2, 0, queue, 1, 1);
    world.hit(101 + queue * 2, 1, queue, 1, 0);
  }
  const auto before = operations_of(world).before();
  REQUIRE(before.size() == 20'000);
  CHECK(before[3].all == 19'999);
  CHECK(before[3].first == std::vector<std::size_t>{0, 1, 2, 4, 5, 6, 7, 8});
  CHECK(before[19'999].first == std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("a trace without such points has no queues of this kind") {
  World world;
  world.schema.points.resize(1);
  world.schema.points[0].src = "no.queue";
  world.hit(100, 0, 7, 1, 1);
  Operations operations(world.schema, {}, 0);
  operations.consume(world.events);
  CHECK(operations.empty());
}

}  // namespace
}  // namespace sojourn::queues
