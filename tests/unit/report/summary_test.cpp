#include "analysis/report/summary.h"

#include <algorithm>
#include <map>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

namespace sojourn::report {
namespace {

using Catch::Matchers::WithinRel;

model::Schema schema_of(std::initializer_list<std::pair<const char*, const char*>> points) {
  model::Schema schema;
  for (const auto& [where, fields] : points)
    schema.points.push_back(*model::parse_point(where, fields));
  return schema;
}

struct Run {
  explicit Run(model::Schema points, journeys::CaptureMarks between = {})
      : schema(std::move(points)), marks(std::move(between)) {}

  model::Schema schema;
  journeys::CaptureMarks marks;
  journeys::Rules rules;
  journeys::Topology topology = *journeys::Topology::derive(schema, rules);
  Summary summary{topology, marks.open_ns};
  journeys::Rebuilder rebuilder = *journeys::Rebuilder::create(schema, rules, marks, summary);
  std::map<std::uint32_t, std::uint64_t> seq;  // by stream

  void hit(std::uint64_t ts_ns, model::PointId point, std::initializer_list<std::uint64_t> values,
           std::uint32_t stream = 0) {
    model::EventBatch batch;
    batch.append({ts_ns, seq[stream]++, stream, stream + 1, point,
                  std::span(values.begin(), values.size())});
    rebuilder.consume(batch);
  }
  void finish() {
    rebuilder.finish();
    summary.finish(rebuilder.totals().last_ns);
  }
  double decisive(std::string_view place) const {
    for (std::size_t i = 0; i < topology.places.size(); ++i)
      if (topology.places[i].name == place) return summary.place(i).critical_path_ns;
    return -1;
  }
  const statistics::Depth& depth(std::string_view place) const {
    const auto found = std::ranges::find(topology.places, place, &journeys::Place::name);
    REQUIRE(found != topology.places.end());
    return summary.place(static_cast<std::size_t>(found - topology.places.begin())).depth;
  }
};

TEST_CASE("a downlink packet's places add up to its latency, by the piece that came last") {
  Run run(schema_of({{"D in--rlc", "len:rnti:psn"},
                     {"D rlc--mac", "len:rnti:psn.so"},
                     {"D mac--out", "len:rnti:psn.so"}}));
  run.hit(100, 0, {1000, 1, 5});
  run.hit(200, 1, {400, 1, 5, 0});
  run.hit(300, 1, {600, 1, 5, 400});
  run.hit(350, 2, {600, 1, 5, 400});
  run.hit(900, 2, {400, 1, 5, 0});
  run.finish();
  const auto& down = run.summary.direction(model::Direction::kDownlink);
  CHECK(down.complete == 1);
  CHECK(down.in_pieces == 1);
  CHECK(down.latency_ns.max() == 800);
  CHECK_THAT(run.decisive("rlc"), WithinRel(100.0, 1e-9));
  CHECK_THAT(run.decisive("mac"), WithinRel(700.0, 1e-9));
}

TEST_CASE("a depth is exact though a unit without a parent is known late") {
  Run run(schema_of(
      {{"D in--a", "len:rnti:sn"}, {"D a--b", "len:rnti:sn"}, {"D b--out", "len:rnti:sn"}}));
  run.hit(1000, 0, {100, 1, 1});
  run.hit(1100, 1, {100, 1, 9}, 1);
  run.hit(1200, 1, {100, 1, 1}, 2);
  run.hit(1300, 2, {100, 1, 1}, 2);
  run.hit(1400, 2, {100, 1, 9}, 1);
  run.hit(101'000, 0, {100, 1, 2});
  run.finish();
  const auto& depth = run.depth("b");
  CHECK(depth.entered() == 2);
  CHECK(depth.max() == 2);
  CHECK_THAT(depth.mean(), WithinRel((100.0 + 2 * 100 + 100) / 100'000, 1e-12));
}

TEST_CASE("packets inside at the end are counted by place, and those from before the marks apart") {
  Run run(schema_of({{"D in--rlc", "len:rnti:psn"},
                     {"D rlc--mac", "len:rnti:psn.so"},
                     {"D mac--out", "len:rnti:psn.so"}}),
          {.open_ns = 1000, .close_ns = 9000});
  constexpr std::uint32_t kMac = 1;  // a thread whose first events are written over
  run.hit(500, 0, {1000, 1, 1});     // may have left before the open mark
  run.hit(2000, 0, {1000, 1, 5});
  run.hit(2100, 1, {400, 1, 5, 0}, kMac);  // both a part in mac and one in rlc
  run.hit(3000, 1, {300, 1, 5, 400}, kMac);
  run.hit(8000, 0, {1000, 1, 6});
  run.finish();
  const auto& down = run.summary.direction(model::Direction::kDownlink);
  CHECK(down.count() == 2);
  CHECK(down.censored == 2);
  CHECK(down.inside == 2);
  CHECK(down.before_open == 1);
  for (std::size_t i = 0; i < run.topology.places.size(); ++i) {
    const PlaceSummary& place = run.summary.place(i);
    const bool is_rlc = run.topology.places[i].name == "rlc";
    CHECK(place.inside_ns.count() == (is_rlc ? 2 : 1));
    CHECK(place.inside_ns.max() == (is_rlc ? 7000 : 6900));
    CHECK(place.oldest_inside_ns == 7000);
    CHECK(place.depth.max() == 2);
  }
}

// A hundred units pass in 10 ns each; an earlier one never leaves.
TEST_CASE("a depth of units that were never seen to leave is not known") {
  Run run(schema_of({{"D in--a", "len:rnti:sn"}, {"D a--out", "len:rnti:sn"}}));
  run.hit(100, 0, {100, 1, 999});
  for (std::uint64_t at = 1; at <= 100; ++at) {
    run.hit(at * 1'000'000, 0, {100, 1, at});
    run.hit(at * 1'000'000 + 10, 1, {100, 1, at});
  }
  run.hit(3'000'000'000, 0, {100, 1, 1000});
  run.finish();
  const PlaceSummary& place = run.summary.place(0);
  REQUIRE(run.topology.places[0].name == "a");
  CHECK(place.depth.entered() == 102);
  CHECK(place.never_left() == 1);
  CHECK(place.never_left_share() > 0.99);
  CHECK_FALSE(place.is_depth_known());
}

TEST_CASE("a packet that was seen at one point only is complete and has no latency") {
  Run run(schema_of(
      {{"D msgb--freed", "len::buf"}, {"D in--a", "len:rnti:sn"}, {"D a--out", "len:rnti:sn"}}));
  run.hit(100, 0, {20, 3});
  run.hit(200, 1, {1, 1, 1});
  run.hit(200, 2, {1, 1, 1});  // in the same nanosecond: that is a latency
  run.finish();
  const auto& down = run.summary.direction(model::Direction::kDownlink);
  CHECK(down.complete == 2);
  CHECK(down.at_one_point == 1);
  CHECK(down.latency_ns.count() == 1);
  CHECK_FALSE(down.is_timeless());
}

TEST_CASE("an uplink packet's places add up to its latency, by the piece that came first") {
  Run run(schema_of({{"U ant--phy", "len.round:rnti:harq.slot"},
                     {"U phy--rlc", "len:rnti:harq.slot.rsn.so"},
                     {"U rlc--out", "len:rnti:rsn"}}));
  run.hit(100, 0, {500, 0, 1, 0, 10});
  run.hit(200, 0, {500, 1, 1, 0, 18});
  run.hit(220, 1, {400, 1, 0, 18, 5, 0});
  run.hit(600, 0, {500, 0, 1, 1, 30});
  run.hit(610, 1, {600, 1, 1, 30, 5, 400});
  run.hit(650, 2, {1000, 1, 5});
  run.finish();
  const auto& up = run.summary.direction(model::Direction::kUplink);
  CHECK(up.complete == 1);
  CHECK(up.repeated == 1);
  CHECK(up.latency_ns.max() == 550);
  CHECK_THAT(run.decisive("phy"), WithinRel(120.0, 1e-9));
  CHECK_THAT(run.decisive("rlc"), WithinRel(430.0, 1e-9));
}

TEST_CASE("an incomplete journey has no latency") {
  Run run(schema_of(
      {{"D in--a", "len:rnti:sn"}, {"D a--drop", "len:rnti:sn"}, {"D a--out", "len:rnti:sn"}}));
  run.hit(100, 0, {1, 1, 1});
  run.hit(110, 1, {1, 1, 1});
  run.hit(200, 0, {1, 1, 2});
  run.finish();
  const auto& down = run.summary.direction(model::Direction::kDownlink);
  CHECK(down.dropped == 1);
  CHECK(down.censored == 1);
  CHECK(down.count() == 2);
  CHECK(down.latency_ns.count() == 0);
}

}  // namespace
}  // namespace sojourn::report
