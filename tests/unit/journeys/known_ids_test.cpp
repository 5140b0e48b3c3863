// The ids by which people know a packet, from any event of its path.
#include "analysis/journeys/known_ids.h"

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "analysis/model/links.h"

namespace sojourn::journeys {
namespace {

// A journey of one event at each of the points, and the values of these.
struct Path {
  Path(std::vector<model::Point> points, std::vector<std::vector<std::uint64_t>> all)
      : values(std::move(all)), steps(points.size()) {
    schema.points = std::move(points);
    for (std::size_t at = 0; at < steps.size(); ++at) {
      steps[at].point = static_cast<model::PointId>(at);
      steps[at].values = values[at];
    }
    journey.steps = steps;
  }

  std::vector<std::pair<std::string, std::uint64_t>> names() const {
    std::vector<std::pair<std::string, std::uint64_t>> said;
    for (const KnownId& id : PacketNames(schema).of(journey))
      said.emplace_back(schema.points[id.point].fields[id.field].name, id.value);
    return said;
  }

  model::Schema schema;
  std::vector<std::vector<std::uint64_t>> values;
  std::vector<Step> steps;
  Journey journey;
};

using Names = std::vector<std::pair<std::string, std::uint64_t>>;

model::Point point(const char* where, const char* fields) {
  return model::parse_point(where, fields).value();
}

// The form in which a map's point with begins = ["bb"] is recorded.
model::Point with_life(model::Point point) {
  point.fields.insert(point.fields.begin(),
                      {.name = std::string(model::kLifePrefix) + "bb", .bytes = 8});
  return point;
}

TEST_CASE("a buffer's packet is named by its owner, which is known later") {
  const Path path(
      {with_life(point("D gtpu.rx--pdcp.tx", "::bb")),
       point("D pdcp.tx--pdcp.reorder", "::pdcp.count.bb"),
       point("D rlc.tx--mac.tx", ":rnti:drb.psn.slot"), point("D mac.tx--phy.tx", ":rnti:slot")},
      {{1, 48666}, {0x5500, 17, 48666}, {0x4601, 2, 17, 99}, {0x4602, 99}});
  CHECK(path.names() == Names{{"rnti", 0x4601}, {"drb", 2}, {"count", 17}});
}

TEST_CASE("the ids of its own event come before those of others, without the address") {
  Path path({with_life(point("U phy.rx--mac.rx", ":rnti:bb")), point("U mac.rx--rlc.rx", "::bb"),
             point("U rlc.rx--out", ":rnti:psn")},
            {{1, 0x4601, 5}, {5}, {0x4602, 3}});
  CHECK(path.names() == Names{{"rnti", 0x4601}, {"psn", 3}});
  path.journey.own_step = 2;
  CHECK(path.names() == Names{{"rnti", 0x4602}, {"psn", 3}});
}

TEST_CASE("a packet whose own event has well-known ids is named by these alone") {
  const Path path({point("D ip.in--sdap", ":rnti:qfi"), point("D sdap--out", ":rnti:drb.psn")},
                  {{0x4601, 9}, {0x4601, 1, 7}});
  CHECK(path.names() == Names{{"rnti", 0x4601}, {"qfi", 9}});
}

TEST_CASE("a packet without known ids is named by all that it has") {
  const Path path({with_life(point("D a--b", "::bb")), point("D b--c", "::bb")}, {{1, 4}, {4}});
  CHECK(path.names() == Names{{"bb", 4}});
}

TEST_CASE("a value that could not be read names no packet") {
  model::Point late = point("D b--c", ":rnti:bb");
  late.fields.push_back({.name = std::string(model::kUnreadField), .bytes = 2});
  const Path path({with_life(point("D a--b", "::bb")), late, point("D c--d", ":rnti:")},
                  {{1, 4}, {0, 4, 1}, {0x4601}});
  CHECK(path.names() == Names{{"rnti", 0x4601}});
}

}  // namespace
}  // namespace sojourn::journeys
