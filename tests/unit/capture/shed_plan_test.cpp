// The points of a schema that go off together, and their order.
#include "userspace/capture/session/shed_plan.h"

#include <string>

#include <catch2/catch_test_macros.hpp>

#include "analysis/model/links.h"

namespace sojourn::capture {
namespace {

model::Point point(const std::string& where, const std::string& format) {
  auto parsed = model::parse_point(where, format);
  REQUIRE(parsed);
  return *parsed;
}

model::Schema two_directions() {
  return {{point("D ip.in--pdcp.in", "::sdu"), point("D pdcp.in--rlc.tx", "::sdu"),
           point("U phy.in--mac.rx", "::tb"), point("D rlc.tx--phy.out", "::sdu"),
           point("U mac.rx--ip.out", "::tb"), point("I mac.bsr", "bytes::"),
           point("S mac.slot", "slot::")}};
}

TEST_CASE("points that hand units to each other go off together, each scalar alone, slots never") {
  const ShedPlan plan = plan_shedding(two_directions(), {});
  CHECK(plan.group == std::vector<std::uint32_t>{1, 1, 3, 1, 3, 6, 7});
  using enum ShedTurn;
  CHECK(plan.turn == std::vector<ShedTurn>{kPath, kPath, kPath, kPath, kPath, kFirst, kNever});
}

TEST_CASE("an optional path goes first, one with a single optional point does not") {
  const ShedPlan plan = plan_shedding(two_directions(), {1, 2, 4, 6});
  CHECK(plan.turn[1] == ShedTurn::kPath);
  CHECK(plan.turn[0] == ShedTurn::kPath);
  CHECK(plan.turn[2] == ShedTurn::kFirst);
  CHECK(plan.turn[4] == ShedTurn::kFirst);
  CHECK(plan.turn[6] == ShedTurn::kFirst);
}

TEST_CASE("a scalar from whose call a path takes ids goes with the path") {
  model::Schema schema = two_directions();
  const auto add = [&](std::size_t to, const std::string& field) {
    schema.points[to].fields.push_back({.name = field});
  };
  schema.points.push_back(point("I mac.assemble", "rnti::"));
  add(7, std::string(model::kStackPointerField));
  add(3, std::string(model::kInheritedPrefix) + "rnti");
  const ShedPlan plan = plan_shedding(schema, {});
  CHECK(plan.group[7] == plan.group[3]);
  CHECK(plan.turn[7] == ShedTurn::kPath);
  CHECK(plan.turn[5] == ShedTurn::kFirst);  // the other scalar
}

TEST_CASE("points that come later join a path under its number") {
  model::Schema schema = two_directions();
  const ShedPlan before = plan_shedding(schema, {});
  schema.points.push_back(point("D rlc.tx--drop", "::sdu"));
  const ShedPlan after = plan_shedding(schema, {});
  CHECK(after.group[7] == before.group[0]);
  CHECK(std::equal(before.group.begin(), before.group.end(), after.group.begin()));
}

}  // namespace
}  // namespace sojourn::capture
