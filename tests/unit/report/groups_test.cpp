#include "analysis/report/groups.h"

#include <algorithm>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include "analysis/journeys/rebuilder.h"

namespace sojourn::report {
namespace {

using Catch::Matchers::WithinRel;

// Packets of two UEs, a bearer each, over one hop in the middle.
struct Run {
  explicit Run(By by) : groups(by, schema, topology, {{7, "rx"}, {8, "t\nx"}}) {}

  static model::Schema points() {
    model::Schema made;
    made.points.push_back(*model::parse_point("D in--rlc.tx", "len:rnti:drb.sn"));
    made.points.push_back(*model::parse_point("D rlc.tx--mac", "len:rnti:drb.sn"));
    made.points.push_back(*model::parse_point("D mac--out", "len:rnti:drb.sn"));
    made.points.push_back(*model::parse_point("D mac--drop", "len:rnti:drb.sn"));
    return made;
  }

  void hit(std::uint64_t ts_ns, model::PointId point, std::initializer_list<std::uint64_t> values) {
    model::EventBatch batch;
    batch.append(
        {ts_ns, seq++, 0, point < 1 ? 7U : 8U, point, std::span(values.begin(), values.size())});
    rebuilder.consume(batch);
    groups.on_event(batch[0]);
  }
  void finish() {
    rebuilder.finish();
    groups.finish();
  }
  const Group& named(std::string_view name) const {
    const auto found = std::ranges::find(groups.all(), name, &Group::name);
    if (found == groups.all().end()) FAIL("no group " << name);
    return *found;
  }

  model::Schema schema = points();
  journeys::Rules rules;
  journeys::Topology topology = *journeys::Topology::derive(schema, rules);
  Groups groups;
  journeys::Rebuilder rebuilder = *journeys::Rebuilder::create(schema, rules, {}, groups);
  std::uint64_t seq = 0;
};

// UE 1: latencies 100, 300 and one drop; UE 2: 50. The second packet of UE 1 overtakes the first.
void traffic(Run& run) {
  run.hit(1000, 0, {500, 1, 4, 0});
  run.hit(1010, 0, {700, 1, 4, 1});
  run.hit(1020, 1, {700, 1, 4, 1});
  run.hit(1030, 0, {900, 2, 5, 0});
  run.hit(1040, 1, {900, 2, 5, 0});
  run.hit(1080, 2, {900, 2, 5, 0});
  run.hit(1110, 2, {700, 1, 4, 1});
  run.hit(1120, 1, {500, 1, 4, 0});
  run.hit(1300, 2, {500, 1, 4, 0});
  run.hit(1310, 0, {800, 1, 4, 2});
  run.hit(1320, 1, {800, 1, 4, 2});
  run.hit(1330, 3, {800, 1, 4, 2});
  run.finish();
}

TEST_CASE("each UE has its own packets") {
  Run run(By::kUe);
  traffic(run);
  REQUIRE(run.groups.all().size() == 2);
  const Group& one = run.named("rnti 0x1");
  CHECK(&one == &run.groups.all()[0]);
  CHECK(one.direction == 'D');
  CHECK(one.times_ns.count() == 2);
  CHECK(one.times_ns.min() == 100);
  CHECK(one.times_ns.max() == 300);
  REQUIRE(one.bytes);
  CHECK_THAT(*one.bytes, WithinRel(1200.0, 1e-12));
  CHECK(run.named("rnti 0x2").times_ns.max() == 50);
}

TEST_CASE("a direction has all packets of it") {
  Run run(By::kDirection);
  traffic(run);
  REQUIRE(run.groups.all().size() == 1);
  const Group& all = run.named("all packets");
  CHECK(all.direction == 'D');
  CHECK(all.times_ns.count() == 3);
  CHECK(all.times_ns.max() == 300);
  CHECK_THAT(all.bytes.value(), WithinRel(2100.0, 1e-12));
  CHECK(all.arrivals.gaps_ns().max() == 20);
}

TEST_CASE("gaps and jitter are in the order of arrival, not of closing") {
  Run run(By::kUe);
  traffic(run);
  const Group& one = run.named("rnti 0x1");
  CHECK(one.arrivals.gaps_ns().count() == 1);
  CHECK(one.arrivals.gaps_ns().max() == 10);
  CHECK_THAT(one.jitter_ns(), WithinRel(200.0, 1e-12));
  CHECK(one.disorder == 0);
}

TEST_CASE("a bearer is one of a UE's") {
  Run run(By::kBearer);
  traffic(run);
  CHECK(run.named("rnti 0x1 drb 4").times_ns.count() == 2);
  CHECK(run.named("rnti 0x2 drb 5").times_ns.count() == 1);
}

TEST_CASE("a path is where a packet came through") {
  Run run(By::kPath);
  traffic(run);
  REQUIRE(run.groups.all().size() == 1);
  CHECK(run.groups.all()[0].name == "in -> rlc.tx -> mac -> out");
}

TEST_CASE("hops and layers have the stays of their units, drops included") {
  Run hops(By::kHop);
  traffic(hops);
  CHECK(hops.named("in -> rlc.tx -> mac").times_ns.count() == 4);
  CHECK(hops.named("in -> rlc.tx -> mac").times_ns.max() == 120);
  CHECK(hops.named("rlc.tx -> mac -> drop").times_ns.count() == 1);
  Run layers(By::kLayer);
  traffic(layers);
  CHECK(layers.named("rlc").times_ns.count() == 4);
  CHECK(layers.named("mac").times_ns.count() == 4);
}

TEST_CASE("units that left a hop have its bytes, dropped ones have none") {
  Run hops(By::kHop);
  traffic(hops);
  CHECK_THAT(hops.named("in -> rlc.tx -> mac").bytes.value(), WithinRel(2900.0, 1e-12));
  CHECK_THAT(hops.named("rlc.tx -> mac -> out").bytes.value(), WithinRel(2100.0, 1e-12));
  CHECK_FALSE(hops.named("rlc.tx -> mac -> drop").bytes);
}

// A packet is cut in two, of which the second goes into a block with the next packet.
TEST_CASE("pieces and reassembled units have their own bytes, a layer those that leave it") {
  model::Schema schema;
  schema.points.push_back(*model::parse_point("D in--rlc.tx", "len:rnti:sn"));
  schema.points.push_back(*model::parse_point("D rlc.tx--rlc.seg", "len:rnti:sn.so"));
  schema.points.push_back(*model::parse_point("D rlc.seg--mac", "len:rnti:sn.so.slot"));
  schema.points.push_back(*model::parse_point("D mac--out", "len:rnti:slot"));
  const journeys::Rules rules;
  const auto topology = *journeys::Topology::derive(schema, rules);
  const auto bytes_by = [&](By by, std::string_view name) {
    Groups groups(by, schema, topology, {});
    auto rebuilder = *journeys::Rebuilder::create(schema, rules, {}, groups);
    std::uint64_t ts_ns = 1000;
    const auto hit = [&](model::PointId point, std::initializer_list<std::uint64_t> values) {
      model::EventBatch batch;
      batch.append({ts_ns, ts_ns, 0, 7, point, std::span(values.begin(), values.size())});
      rebuilder.consume(batch);
      ts_ns += 10;
    };
    hit(0, {1000, 1, 0});
    hit(1, {600, 1, 0, 0});
    hit(2, {600, 1, 0, 0, 5});
    hit(3, {610, 1, 5});
    hit(0, {300, 1, 1});
    hit(1, {400, 1, 0, 600});
    hit(2, {400, 1, 0, 600, 6});
    hit(1, {300, 1, 1, 0});
    hit(2, {300, 1, 1, 0, 6});
    hit(3, {730, 1, 6});
    rebuilder.finish();
    groups.finish();
    const auto found = std::ranges::find(groups.all(), name, &Group::name);
    if (found == groups.all().end()) FAIL("no group " << name);
    return found->bytes.value();
  };
  CHECK_THAT(bytes_by(By::kHop, "in -> rlc.tx -> rlc.seg"), WithinRel(1300.0, 1e-12));
  CHECK_THAT(bytes_by(By::kHop, "rlc.seg -> mac -> out"), WithinRel(1300.0, 1e-12));
  CHECK_THAT(bytes_by(By::kLayer, "rlc"), WithinRel(1300.0, 1e-12));
  CHECK_THAT(bytes_by(By::kLayer, "mac"), WithinRel(1300.0, 1e-12));
}

TEST_CASE("points and threads count events") {
  Run points(By::kPoint);
  traffic(points);
  CHECK(points.named("in--rlc.tx").arrivals.count() == 4);
  CHECK_THAT(points.named("in--rlc.tx").bytes.value(), WithinRel(2900.0, 1e-12));
  CHECK(points.named("mac--drop").arrivals.count() == 1);
  Run threads(By::kThread);
  traffic(threads);
  CHECK(threads.named("rx 7").arrivals.count() == 4);
  CHECK(threads.named("t?x 8").arrivals.count() == 8);
  // A thread reports the bytes that it passed on at two points, or three.
  CHECK_THAT(threads.named("rx 7").bytes.value(), WithinRel(2900.0, 1e-12));
  CHECK_THAT(threads.named("t?x 8").bytes.value(), WithinRel(2900.0, 1e-12));
  CHECK(threads.named("rx 7").direction == ' ');
}

TEST_CASE("the kinds of groups have names") {
  for (const std::string_view word : {"ue", "bearer", "path", "hop", "layer", "point", "thread"}) {
    REQUIRE(by_from(word));
    CHECK(name(*by_from(word)) == word);
  }
  CHECK_FALSE(by_from("colour"));
}

}  // namespace
}  // namespace sojourn::report
