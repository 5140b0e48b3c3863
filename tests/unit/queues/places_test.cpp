// Places between points as queues.
#include "analysis/queues/places.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/journeys/rebuilder.h"
#include "analysis/present/queues/flow_json.h"

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
  const PlaceQueue& stats(const std::string& name) const { return places.queues()[place(name)]; }
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
  const Meter& meter = world.stats("a").meter;
  CHECK(meter.in() == 3);
  CHECK(meter.out() == 3);
  CHECK(meter.high_water().depth == 3);
  CHECK(meter.high_water().ts_ns == 120);
  CHECK(meter.waits_ns().max() == 480);
  CHECK(meter.levels().at_ns(3) == 80);
  CHECK(meter.levels().at_ns(1) == 10 + 200);
  CHECK(world.stats("b").meter.waits_ns().max() == 10);
  CHECK(world.stays_ns.size() == 6);
}

TEST_CASE("the producers and consumers of a place are the threads of the events") {
  World world;
  run(world);
  CHECK(world.stats("a").fed_by == std::map<std::uint32_t, std::uint64_t>{{11, 3}});
  CHECK(world.stats("a").drained_by == std::map<std::uint32_t, std::uint64_t>{{12, 3}});
  CHECK(world.stats("b").drained_by == std::map<std::uint32_t, std::uint64_t>{{13, 3}});
  CHECK(world.places.before(world.place("b")) == std::vector{world.place("a")});
  CHECK(world.places.before(world.place("a")).empty());
  CHECK(world.places.order() == std::vector{world.place("a"), world.place("b")});
}

TEST_CASE("the journeys of a high-water mark are those that were inside then") {
  World world;
  run(world);
  CHECK(world.stats("a").journeys == std::vector<std::uint64_t>{1, 2, 3});
  CHECK(world.stats("a").inside == 3);
  CHECK(world.stats("b").journeys.size() == 1);
}

// A schema in which `a` cuts units in two, and keeps what it sent until it is acknowledged.
model::Schema acknowledged() {
  return {{*model::parse_point("D in--a", "len:rnti:sn"),
           *model::parse_point("D a--b", "len:rnti:sn.so"),
           *model::parse_point("D b--out", "len:rnti:sn.so"),
           *model::parse_point("D a--ack", "len:rnti:sn")}};
}

TEST_CASE("a sent unit is not inside, though it left in pieces and is acknowledged later") {
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
  CHECK(world.stats("a").meter.high_water().depth == 10);
  CHECK(world.stats("a").inside == 10);
  CHECK(world.stats("a").journeys == std::vector<std::uint64_t>{5, 6, 7, 8, 9, 10, 11, 12});
}

// Two units are in `b` at once; one of them found no parent, so it is reported 20 us later.
model::Schema uplink() {
  return {{*model::parse_point("U in--a", "len:rnti:sn"),
           *model::parse_point("U a--b", "len:rnti:sn"),
           *model::parse_point("U b--out", "len:rnti:sn")}};
}

TEST_CASE("a depth that is known late is exact, and so are the units inside at its mark") {
  for (const bool is_uplink : {false, true}) {
    World world = is_uplink ? World{uplink()} : World{};
    world.hit(1000, 0, 1, 11);
    world.hit(1100, 1, 9, 12);
    world.hit(1200, 1, 1, 13);
    world.hit(1300, 2, 1, 13);  // in the uplink the packet's journey is reported now
    world.hit(1400, 2, 9, 12);
    world.hit(100'000, 0, 2, 11);
    world.finish(101'000);
    const PlaceQueue& stats = world.stats("b");
    CHECK(stats.meter.in() == 2);
    CHECK(stats.meter.high_water().depth == 2);
    CHECK(stats.meter.high_water().ts_ns == 1200);
    CHECK(stats.meter.high_water().since_ns == 1100);
    CHECK(stats.meter.levels().at_ns(1) == 100 + 100);
    CHECK(stats.meter.levels().at_ns(2) == 100);
    CHECK(stats.meter.between_ns().count() == 1);
    CHECK(stats.meter.service_ns().mean() == (100 + 100) / 2.0);
    CHECK(stats.inside == 2);
    CHECK(stats.journeys.size() == 2);
  }
}

// Entering and leaving, in the order in which it becomes known.
struct Known : journeys::Observer {
  struct Change {
    std::uint64_t ts_ns;
    bool enters;
  };
  explicit Known(std::size_t places) : changes(places) {}
  bool wants_order() const override { return false; }
  void on_enter(std::uint16_t place, std::uint64_t ts_ns) override {
    changes[place].push_back({ts_ns, true});
  }
  void on_leave(std::uint16_t place, std::uint64_t, std::uint64_t ts_ns, bool) override {
    changes[place].push_back({ts_ns, false});
  }

  std::vector<std::vector<Change>> changes;
};

struct Recounted {
  HighWater high_water;
  std::map<std::uint64_t, std::uint64_t> levels;  // depth, how long
};

Recounted recount(std::vector<Known::Change> changes, std::uint64_t open_ns, std::uint64_t end_ns) {
  std::ranges::stable_sort(changes, {}, &Known::Change::ts_ns);
  Recounted found;
  std::uint64_t depth = 0;
  std::uint64_t since_ns = open_ns;
  for (const auto& change : changes) {
    if (change.ts_ns != since_ns) found.levels[depth] += change.ts_ns - since_ns;
    since_ns = change.ts_ns;
    depth = change.enters ? depth + 1 : depth - 1;
    if (depth > found.high_water.depth)
      found.high_water = {.depth = depth, .ts_ns = change.ts_ns, .since_ns = 0};
  }
  if (end_ns != since_ns) found.levels[depth] += end_ns - since_ns;
  return found;
}

// Packets at random times, each for a random time in each place. Some events are missing, and some
// come a little before their parents.
model::EventBatch random_events(std::uint32_t seed) {
  struct Hit {
    std::uint64_t ts_ns;
    model::PointId point;
    std::uint64_t sn;
  };
  std::minstd_rand random(seed);
  std::vector<Hit> hits;
  for (std::uint64_t sn = 1; sn <= 3000; ++sn) {
    std::uint64_t ts_ns = 1'000'000 + 2000 * sn + random() % 2000;
    for (model::PointId point = 0; point < 3; ++point) {
      if (random() % 20 != 0) hits.push_back({ts_ns, point, sn});
      ts_ns += random() % 10 == 0 ? 0 : random() % 30'000;
      if (random() % 50 == 0) ts_ns -= std::min<std::uint64_t>(random() % 15'000, ts_ns);
    }
  }
  std::ranges::stable_sort(hits, {}, &Hit::ts_ns);
  model::EventBatch events;
  for (const Hit& hit : hits) {
    const std::uint64_t values[] = {100, 1, hit.sn};
    events.append({hit.ts_ns, events.size(), 0, 11U + hit.point, hit.point, values});
  }
  return events;
}

TEST_CASE("depths agree with a recount of all units that entered and left") {
  std::size_t late = 0;
  for (std::uint32_t seed = 1; seed <= 10; ++seed)
    for (const bool is_uplink : {false, true}) {
      INFO("seed " << seed);
      World world = is_uplink ? World{uplink()} : World{};
      const model::EventBatch events = random_events(seed);
      const std::uint64_t open_ns = events.ts_ns().front();
      const std::uint64_t end_ns = events.ts_ns().back() + 1000;
      const journeys::CaptureMarks marks{.open_ns = open_ns, .close_ns = end_ns};
      Places places(world.topology, open_ns, {});
      Known known(world.topology.places.size());
      for (journeys::Observer* const observer :
           {static_cast<journeys::Observer*>(&places), static_cast<journeys::Observer*>(&known)}) {
        auto rebuilder = *journeys::Rebuilder::create(world.schema, {}, marks, *observer);
        rebuilder.consume(events);
        rebuilder.finish();
      }
      places.finish(end_ns);
      for (std::size_t place = 0; place < known.changes.size(); ++place) {
        late += !std::ranges::is_sorted(known.changes[place], {}, &Known::Change::ts_ns);
        const Recounted found = recount(known.changes[place], open_ns, end_ns);
        const Meter& meter = places.queues()[place].meter;
        CHECK(meter.high_water().depth == found.high_water.depth);
        CHECK(meter.high_water().ts_ns == found.high_water.ts_ns);
        const auto levels = meter.levels().by_depth();
        CHECK(std::map(levels.begin(), levels.end()) == found.levels);
      }
    }
  CHECK(late > 10);
}

TEST_CASE("a graph has the threads and the places between them, named where names are known") {
  World world;
  run(world);
  const model::Schema schema;
  const Operations none(schema, {}, 0);
  const std::string dot = present::dot_text(
      present::flow_graph(world.places, world.topology, none, {{11, "rx \"1\""}, {12, "mac"}}));
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
  const std::string dot = present::dot_text(
      present::flow_graph(world.places, world.topology, operations, {{12, "mac"}}));
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
