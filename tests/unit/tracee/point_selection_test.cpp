// The selection among a program's points.
#include "userspace/tracee/point_selection.h"

#include <initializer_list>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::tracee {
namespace {

TEST_CASE("points that are not asked for lose their sites, and the others are numbered anew") {
  Points points;
  for (const char* where : {"D a--b", "D b--c", "D c--d"})
    points.schema.points.push_back(*model::parse_point(where, "len"));
  for (const auto point : std::initializer_list<model::PointId>{0, 1, 2, 1}) {
    Site site;
    site.point = point;
    points.sites.push_back(site);
    points.ring_sites.push_back({.id = 10U + point, .point = point});
  }
  const Points kept = select(points, {false, true, true});
  REQUIRE(kept.schema.points.size() == 2);
  CHECK(kept.schema.points[0].name() == "b--c");
  REQUIRE(kept.sites.size() == 3);
  CHECK(kept.sites[0].point == 0);
  CHECK(kept.sites[1].point == 1);
  CHECK(kept.sites[2].point == 0);
  // Their records may be in a ring, so their layout stays known.
  REQUIRE(kept.ring_sites.size() == 4);
  CHECK_FALSE(kept.ring_sites[0].is_wanted);
  CHECK(kept.left_out[kept.ring_sites[0].point].name() == "a--b");
  CHECK(kept.ring_sites[2].is_wanted);
  CHECK(kept.ring_sites[2].point == 1);

  const Points fewer = select(kept, {true, false});
  CHECK(fewer.left_out[fewer.ring_sites[0].point].name() == "a--b");
  CHECK(fewer.left_out[fewer.ring_sites[2].point].name() == "c--d");
  CHECK(fewer.ring_sites[1].is_wanted);
  CHECK(fewer.ring_sites[1].point == 0);
}

TEST_CASE("points of several processes get common numbers, equal ones the same") {
  const auto make = [](std::initializer_list<const char*> words) {
    Points points;
    for (const char* where : words) {
      const auto id = static_cast<model::PointId>(points.schema.points.size());
      points.schema.points.push_back(*model::parse_point(where, "len"));
      Site site;
      site.point = id;
      points.sites.push_back(site);
      points.ring_sites.push_back({.id = id, .point = id});
    }
    points.ring_sites.push_back({.id = 99, .point = 0, .is_wanted = false});
    return points;
  };
  Points first = make({"D a--b", "D b--c"});
  Points second = make({"D c--d", "D b--c"});
  model::Schema schema;
  REQUIRE(join(first, schema));
  REQUIRE(join(second, schema));
  REQUIRE(schema.points.size() == 3);
  CHECK(first.sites[1].point == 1);
  CHECK(second.sites[0].point == 2);
  CHECK(second.sites[1].point == 1);
  CHECK(second.ring_sites[0].point == 2);
  CHECK(second.ring_sites[2].point == 0);  // among those that were left out
  CHECK(second.schema == schema);
}

}  // namespace
}  // namespace sojourn::tracee
