// The number of units ahead of a unit in a queue.
#include "analysis/causes/queue_positions.h"

#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::causes {
namespace {

struct World {
  model::Schema schema{{*model::parse_point("D in--a", "len:rnti:sn"),
                        *model::parse_point("D a--out", "len:rnti:sn"),
                        *model::parse_point("D a--ack", "len:rnti:sn")}};
  journeys::Rules rules;
  journeys::Topology topology = *journeys::Topology::derive(schema, rules);
  QueuePositions lines{schema, topology, rules};

  std::uint32_t pair(model::PointId child = 1) const { return topology.pair_index(0, child); }
  std::uint64_t flow(std::uint64_t rnti) const {
    const std::vector<std::uint64_t> values = {1, rnti, 0};
    return lines.flow(pair(), values);
  }
  void stay(std::uint64_t entered_ns, std::uint64_t left_ns, std::uint64_t rnti = 1,
            model::PointId child = 1) {
    const std::vector<std::uint64_t> values = {1, rnti, entered_ns};
    lines.add({.pair = pair(child),
               .entered_ns = entered_ns,
               .left_ns = left_ns,
               .entered_by = 1,
               .left_by = 2,
               .values = values});
  }
  QueuePositions::Ahead ahead(std::uint64_t entered_ns, std::uint64_t left_ns,
                              std::uint64_t rnti = 1) const {
    return lines.ahead(pair(), flow(rnti), entered_ns, left_ns);
  }
};

TEST_CASE("ahead are those that were there before and left before") {
  World world;
  world.stay(10, 40);
  world.stay(20, 50);
  world.stay(30, 60);
  CHECK(world.ahead(30, 60).units == 2);
  CHECK(world.ahead(30, 60).last_ns == 50);
  CHECK(world.ahead(45, 60).units == 1);
  CHECK(world.ahead(10, 40).units == 0);
  CHECK(world.ahead(30, 60).overtakers == 0);
}

TEST_CASE("the pieces of a unit are one ahead") {
  World world;
  world.stay(10, 40);
  world.stay(10, 45);
  world.stay(20, 50);
  CHECK(world.ahead(30, 60).units == 2);
}

TEST_CASE("an acknowledgement is not counted as a packet ahead") {
  World world;
  world.stay(10, 40, 1, 2);
  CHECK(world.ahead(30, 60).units == 0);
}

TEST_CASE("a place whose flows overtake each other has a queue for each flow") {
  World world;
  for (std::uint64_t turn = 0; turn < 10; ++turn) {
    world.stay(turn * 10 + 1, turn * 10 + 105, 2);
    world.stay(turn * 10, turn * 10 + 106, 1);
  }
  const QueuePositions::Ahead ahead = world.ahead(95, 197, 1);
  CHECK(ahead.of_flow);
  CHECK(ahead.units == 10);
  CHECK(ahead.overtakers == 0);
}

TEST_CASE("a place with one queue counts all units") {
  World world;
  for (std::uint64_t turn = 0; turn < 10; ++turn) {
    world.stay(turn * 10, turn * 10 + 105, 1);
    world.stay(turn * 10 + 1, turn * 10 + 106, 2);
  }
  const QueuePositions::Ahead ahead = world.ahead(95, 198, 1);
  CHECK_FALSE(ahead.of_flow);
  CHECK(ahead.units == 20);
}

TEST_CASE("a later one of the same flow that left earlier overtook") {
  World world;
  world.stay(30, 40);
  world.stay(20, 50);
  const QueuePositions::Ahead ahead = world.ahead(20, 50);
  CHECK(ahead.overtakers == 1);
  CHECK(ahead.late_ns == 30);
}

TEST_CASE("forgotten units are not counted") {
  World world;
  world.stay(10, 40);
  world.stay(20, 50);
  CHECK(world.lines.size() == 2);
  world.lines.forget(45);
  CHECK(world.lines.size() == 1);
  CHECK(world.ahead(30, 60).units == 1);
}

}  // namespace
}  // namespace sojourn::causes
