// Places between points as queues.
#include "analysis/queues/places.h"

#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/journeys/rebuilder.h"
#include "analysis/queues/flow_json.h"

namespace sojourn::queues {
namespace {

struct World {
  model::Schema schema{{*model::parse_point("D in--a", "len:rnti:sn"),
                        *model::parse_point("D a--b", "len:rnti:sn"),
                        *model::parse_point("D b--out", "len:rnti:sn")}};
  journeys::Rules rules = {};
  journeys::Topology topology = *journeys::Topology::derive(schema, rules);
  std::vector<std::uint64_t> stays_ns = {};
  Places places{topology, 0, [this](std::uint16_t, const journeys::Stay& stay) {
                  stays_ns.push_back(stay.left_ns - stay.entered_ns);
                }};
  journeys::Rebuilder rebuilder = *journeys::Rebuilder::create(schema, rules, {}, places);
  std::uint64_t seq = 0;

  void hit(std::uint64_t ts_ns, model::PointId point, std::uint64_t sn, std::uint32_t tid) {
    send(ts_ns, point, {100, 1, sn}, tid);
  }
  void send(std::uint64_t ts_ns, model::PointId point, const std::vector<std::uint64_t>& values,
            std::uint32_t tid) {
    model::EventBatch batch;
    batch.append({ts_ns, seq++, 0, tid, point, values});
    rebuilder.consume(batch);
  }
  void finish(std::uint64_t end_ns) {
    rebuilder.finish();
    places.finish(end_ns);
  }
  std::uint16_t place(const std::string& name) const {
    for (std::size_t at = 0; at < topology.places.size(); ++at)
      if (topology.places[at].name == name) return static_cast<std::uint16_t>(at);
    FAIL("no place " << name);
    return 0;
  }
  const PlaceStory& story(const std::string& name) const { return places.stories()[place(name)]; }
};

// Three packets come to `a`, one after the other go on to `b`, and out.
void run(World& world) {
  world.hit(100, 0, 1, 11);
  world.hit(110, 0, 2, 11);
  world.hit(120, 0, 3, 11);
  for (std::uint64_t sn = 1; sn <= 3; ++sn) {
    world.hit(200 * sn, 1, sn, 12);
    world.hit(200 * sn + 10, 2, sn, 13);
  }
  world.finish(1000);
}

TEST_CASE("depths, waits and rates of a place are those of the units that went through") {
  World world;
  run(world);
  const Meter& meter = world.story("a").meter;
  CHECK(meter.in() == 3);
  CHECK(meter.out() == 3);
  CHECK(meter.high_water().depth == 3);
  CHECK(meter.high_water().ts_ns == 120);
  CHECK(meter.waits_ns().max() == 480);
  CHECK(meter.levels().at_ns(3) == 80);
  CHECK(meter.levels().at_ns(1) == 10 + 200);
  CHECK(world.story("b").meter.waits_ns().max() == 10);
  CHECK(world.stays_ns.size() == 6);
}

TEST_CASE("who feeds and who drains a place are the threads of the events") {
  World world;
  run(world);
  CHECK(world.story("a").fed_by == std::map<std::uint32_t, std::uint64_t>{{11, 3}});
  CHECK(world.story("a").drained_by == std::map<std::uint32_t, std::uint64_t>{{12, 3}});
  CHECK(world.story("b").drained_by == std::map<std::uint32_t, std::uint64_t>{{13, 3}});
  CHECK(world.places.before(world.place("b")) == std::vector{world.place("a")});
  CHECK(world.places.before(world.place("a")).empty());
  CHECK(world.places.order() == std::vector{world.place("a"), world.place("b")});
}

TEST_CASE("the journeys of a high-water mark are those that were inside then") {
  World world;
  run(world);
  CHECK(world.story("a").journeys == std::vector<std::uint64_t>{1, 2, 3});
  CHECK(world.story("a").inside == 3);
  CHECK(world.story("b").journeys.size() == 1);
}

// Where `a` cuts in two, and keeps what it sent until it is acknowledged.
model::Schema acknowledged() {
  return {{*model::parse_point("D in--a", "len:rnti:sn"),
           *model::parse_point("D a--b", "len:rnti:sn.so"),
           *model::parse_point("D b--out", "len:rnti:sn.so"),
           *model::parse_point("D a--ack", "len:rnti:sn")}};
}

TEST_CASE("who was sent is not inside, though in pieces, and acknowledged later") {
  World world{acknowledged()};
  const auto enter = [&](std::uint64_t sn, std::uint64_t ts_ns) {
    world.send(ts_ns, 0, {100, 1, sn}, 11);
  };
  const auto cut = [&](std::uint64_t sn, std::uint64_t ts_ns) {
    for (const std::uint64_t so : {0, 50}) {
      world.send(ts_ns + so / 10, 1, {50, 1, sn, so}, 12);
      world.send(ts_ns + so / 10 + 1, 2, {50, 1, sn, so}, 12);
    }
  };
  const auto acknowledge = [&](std::uint64_t sn, std::uint64_t ts_ns) {
    world.send(ts_ns, 3, {100, 1, sn}, 13);
  };
  for (std::uint64_t sn = 1; sn <= 4; ++sn) enter(sn, 100 + sn);
  for (std::uint64_t sn = 1; sn <= 4; ++sn) cut(sn, 200 + 10 * sn);
  for (std::uint64_t sn = 5; sn <= 14; ++sn) enter(sn, 400 + sn);
  for (std::uint64_t sn = 1; sn <= 4; ++sn) acknowledge(sn, 500 + sn);
  for (std::uint64_t sn = 5; sn <= 14; ++sn) cut(sn, 600 + 10 * sn);
  for (std::uint64_t sn = 5; sn <= 14; ++sn) acknowledge(sn, 900 + sn);
  world.finish(1000);
  CHECK(world.story("a").meter.high_water().depth == 10);
  CHECK(world.story("a").inside == 10);
  CHECK(world.story("a").journeys == std::vector<std::uint64_t>{5, 6, 7, 8, 9, 10, 11, 12});
}

TEST_CASE("a graph has the threads and the places between them, named where names are known") {
  World world;
  run(world);
  const model::Schema schema;
  const Operations none(schema, {}, 0);
  const std::string dot =
      flow_dot(world.places, world.topology, none, {{11, "rx \"1\""}, {12, "mac"}});
  CHECK(dot.contains("[shape=box, label=\"rx \\\"1\\\"\"]"));
  CHECK(dot.contains("label=\"thread 13\""));
  CHECK(dot.contains("label=\"D a (1.0, at most 3)\""));
}

TEST_CASE("a graph has the queues whose operations are events beside the places") {
  const model::Schema schema{{*model::parse_point("I queue--enqueue", "depth:queue:item"),
                              *model::parse_point("I queue--dequeue", "depth:queue:item")}};
  model::QueueChanges changes(1);
  changes[0].about = {.id = 7, .name = "jobs", .producer = {}, .consumer = {}};
  Operations operations(schema, changes, 0);
  model::EventBatch events;
  const std::uint64_t in[] = {1, 7, 1};
  const std::uint64_t out[] = {0, 7, 1};
  events.append({100, 0, 0, 11, 0, in});
  events.append({200, 1, 0, 12, 1, out});
  operations.consume(events);
  operations.finish(1000);
  World world;
  world.finish(1000);
  const std::string dot = flow_dot(world.places, world.topology, operations, {{12, "mac"}});
  CHECK(dot.contains("stage0 [shape=box, label=\"thread 11\"]"));
  CHECK(dot.contains("stage1 [shape=box, label=\"mac\"]"));
  CHECK(dot.contains("stage0 -> stage1 [label=\"jobs ("));
}

TEST_CASE("without units there is nothing") {
  World world;
  world.finish(1000);
  CHECK(world.places.empty());
  CHECK(world.places.order().empty());
}

}  // namespace
}  // namespace sojourn::queues
