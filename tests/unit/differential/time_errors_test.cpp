// Journeys by hand that cross two hosts: a packet is parsed on the first one, goes over the wire,
// and is delivered by the second one.
#include "analysis/differential/time_errors.h"

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "analysis/differential/packet_table.h"

namespace sojourn::differential {
namespace {

using Catch::Approx;

enum Point : model::PointId { kIn, kSend, kCome, kOut };
constexpr std::uint32_t kFirst = 2;   // a stream of the first host
constexpr std::uint32_t kSecond = 7;  // and one of the second

struct World {
  World() {
    for (const char* const where :
         {"D in--parse", "D parse--wire", "D wire--deliver", "D deliver--out"})
      schema.points.push_back(*model::parse_point(where, "len:rnti:sn"));
    topology = *journeys::Topology::derive(schema, {});
    capture.stamp_error_ns = 40'000;
    capture.hosts = {{.first_stream = 0, .stamp_error_ns = 60},
                     {.first_stream = 5, .stamp_error_ns = 80, .rate_error_ppb = 10'000}};
  }

  // A packet that passes these points, 1 us apart, each in its stream.
  void packet(TimeErrorFinder& finder, const std::vector<std::pair<Point, std::uint32_t>>& way) {
    std::vector<std::uint32_t> parents(way.size());
    std::vector<journeys::Step> steps;
    for (std::uint32_t at = 0; at < way.size(); ++at) {
      parents[at] = at == 0 ? 0 : at - 1;
      steps.push_back({.ts_ns = 1000 * (at + std::uint64_t{1}),
                       .entered_ns = 1000 * (at + std::uint64_t{1}),
                       .stream = way[at].second,
                       .point = way[at].first,
                       .values = {},
                       .parents = std::span(parents).subspan(at, at == 0 ? 0 : 1)});
    }
    finder.on_journey({.outcome = journeys::Outcome::kComplete,
                       .start_ns = steps.front().ts_ns,
                       .end_ns = steps.back().ts_ns,
                       .end_step = static_cast<std::uint32_t>(way.size() - 1),
                       .steps = steps});
  }

  // Their places' stays are of 2 ms.
  static std::array<RunOfPackets, 2> packets() {
    constexpr float kStayNs = 2e6F;
    return {RunOfPackets{.latency_ns = {3 * kStayNs},
                         .stays_ns = {{"parse", {kStayNs}},
                                      {"wire", {kStayNs}},
                                      {"deliver", {kNotThere, kStayNs}}}},
            RunOfPackets{}};
  }

  model::Schema schema;
  journeys::Topology topology;
  model::Capture capture;
};

const std::vector<std::pair<Point, std::uint32_t>> kAcross = {
    {kIn, kFirst}, {kSend, kFirst}, {kCome, kSecond}, {kOut, kSecond}};

TEST_CASE("times on one host have that host's error, and those between hosts the clocks' bound") {
  World world;
  TimeErrorFinder finder(world.capture, world.topology);
  world.packet(finder, kAcross);
  const TimeErrors found = finder.found(World::packets())[0];
  CHECK(found.latency_ns == 40'000);
  CHECK(found.of_stay("parse") == 60);
  CHECK(found.of_stay("wire") == 40'000);
  CHECK(found.of_stay("deliver") == Approx(80 + 2e6 * 1e-5));  // 10 ppm of 2 ms
  CHECK(found.of_stay("elsewhere") == 0);
}

TEST_CASE("a packet that comes back to its host has a latency by one clock") {
  World world;
  TimeErrorFinder finder(world.capture, world.topology);
  world.packet(finder, {{kIn, kFirst}, {kSend, kSecond}, {kCome, kSecond}, {kOut, kFirst}});
  const TimeErrors found = finder.found(World::packets())[0];
  CHECK(found.latency_ns == 60);
  CHECK(found.of_stay("parse") == 40'000);
  CHECK(found.of_stay("wire") == Approx(100));
}

TEST_CASE("one packet that crosses hosts in a place is enough for the bound") {
  World world;
  TimeErrorFinder finder(world.capture, world.topology);
  for (unsigned at = 0; at < 5; ++at) world.packet(finder, kAcross);
  world.packet(finder, {{kIn, kFirst}, {kSend, kSecond}, {kCome, kSecond}, {kOut, kSecond}});
  CHECK(finder.found(World::packets())[0].of_stay("parse") == 40'000);
}

TEST_CASE("of a place on both hosts the larger error counts") {
  World world;
  world.capture.hosts[1].rate_error_ppb = 0;
  TimeErrorFinder finder(world.capture, world.topology);
  world.packet(finder, {{kIn, kFirst}, {kSend, kFirst}});
  world.packet(finder, {{kIn, kSecond}, {kSend, kSecond}});
  const TimeErrors found = finder.found(World::packets())[0];
  CHECK(found.of_stay("parse") == 80);
  CHECK(found.latency_ns == 80);
}

TEST_CASE("in a trace of one host all times have its error, or that of hits if it is larger") {
  World world;
  world.capture.hosts.clear();
  world.capture.stamp_error_ns = 30;
  const TimeErrorFinder finder(world.capture, world.topology);
  CHECK(finder.found(World::packets())[0].latency_ns == 30);
  CHECK(finder.found(World::packets())[0].of_stay("wire") == 30);
  world.capture.hit_cost_ps = {100'000};
  world.capture.hit_spread_ps = {20'000};
  CHECK(finder.found(World::packets())[0].of_stay("wire") == 120);
}

}  // namespace
}  // namespace sojourn::differential
