// Finding a program's release, and the points that a missing one takes with it.
#include "userspace/coarse/release_marks.h"

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "userspace/coarse/path_gaps.h"

namespace sojourn::coarse {
namespace {

Map map_of(const std::string& text) {
  auto map = parse_map(text, "m.toml");
  if (!map) FAIL(map.error().text());
  return std::move(*map);
}

constexpr const char* kReleases = R"(
[[release]]
name = "2"
has = ["a", "c"]

[[release]]
name = "1"
has = ["a"]
lacks = ["b", "c"]

[[point]]
function = "f"
)";

std::string remark(const std::vector<std::string>& present) {
  const std::vector<Map> maps = {map_of(kReleases)};
  ReleaseMarks marks(maps);
  std::vector<SearchResult> results;
  for (const Query& query : marks.queries()) {
    SearchResult result;
    if (std::ranges::find(present, query.pattern) != present.end()) result.functions.emplace_back();
    results.push_back(std::move(result));
  }
  marks.take(results);
  REQUIRE(marks.remarks().size() == 1);
  return marks.remarks().front();
}

TEST_CASE("a release is recognised by the functions that it has and lacks") {
  CHECK(remark({"a", "c"}) == "m.toml: the program looks like release 2");
  CHECK(remark({"a", "b", "c"}) == "m.toml: the program looks like release 2");
  CHECK(remark({"a"}) == "m.toml: the program looks like release 1");
  CHECK(remark({"a", "b"}).contains("none of the releases that the map knows (2, 1)"));
  CHECK(remark({}).contains("none of the releases"));
  const std::vector<Map> plain = {map_of("[[point]]\nfunction = \"f\"\n")};
  CHECK(ReleaseMarks(plain).remarks().empty());
  CHECK(ReleaseMarks(plain).queries().empty());
}

TEST_CASE(
    "a point is left out of releases that do not have it, and of unknown ones if it is of some") {
  const std::vector<Map> maps = {map_of(std::string(kReleases) + R"(
[[point]]
function = "old"
only_in = ["1"]

[[point]]
function = "changed"
not_in = ["1"]
)")};
  const auto left_out = [&](const std::vector<std::string>& present) {
    ReleaseMarks marks(maps);
    std::vector<SearchResult> results;
    for (const Query& query : marks.queries()) {
      SearchResult result;
      if (std::ranges::find(present, query.pattern) != present.end())
        result.functions.emplace_back();
      results.push_back(std::move(result));
    }
    marks.take(results);
    std::vector<std::string> names;
    for (const MapPoint& point : maps[0].points)
      if (marks.leaves_out(maps[0], point)) names.push_back(point.function);
    return names;
  };
  CHECK(left_out({"a"}) == std::vector<std::string>{"changed"});
  CHECK(left_out({"a", "c"}) == std::vector<std::string>{"old"});
  CHECK(left_out({}) == std::vector<std::string>{"old"});
}

TEST_CASE("an error in a release is reported with its place") {
  const auto error = [](const std::string& text) {
    const auto map = parse_map(text + "\n[[point]]\nfunction = \"f\"\n", "m.toml");
    REQUIRE_FALSE(map);
    return map.error().text();
  };
  CHECK(error("[[release]]\nhas = [\"a\"]").contains("the release has no name"));
  CHECK(error("[[release]]\nname = \"1\"").contains("is known by nothing"));
  CHECK(error("[[release]]\nname = \"1\"\nhsa = [\"a\"]").contains("did you mean has"));
  CHECK(error("release = 3").contains("m.toml:1:"));
  const std::string known =
      "[[release]]\nname = \"1.10\"\nhas = [\"a\"]\n[[point]]\nfunction = \"g\"\n";
  CHECK(error(known + "only_in = [\"1.1\"]")
            .starts_with("m.toml:6:12: only_in: the map has no release '1.1'"));
  CHECK(error(known + "not_in = \"1.10\"").contains("not_in: expected names in brackets"));
}

constexpr const char* kPath = R"(
[[point]]
function = "a"
direction = "D"
src = "in"
dest = "p"

[[point]]
function = "b"
direction = "D"
src = "p"
dest = "q"

[[point]]
function = "b2"
direction = "D"
src = "p"
dest = "q"

[[point]]
function = "c"
direction = "D"
src = "q"
dest = "r"

[[point]]
function = "d"
direction = "D"
src = "r"
dest = "out"

[[point]]
function = "other"
direction = "D"
src = "s"
dest = "r.x"

[[point]]
function = "scalar"
src = "p"
)";

std::vector<MapRow> rows_of(const Map& map, const std::vector<std::string>& missing) {
  std::vector<MapRow> rows;
  for (const MapPoint& point : map.points)
    rows.push_back({.point = &point,
                    .is_placed = std::ranges::find(missing, point.function) == missing.end()});
  return rows;
}

TEST_CASE("a path that lacks a point ends before it and begins anew behind it") {
  const Map map = map_of(kPath);
  CHECK(unplaced_points(rows_of(map, {})).empty());
  CHECK(gap_remarks(rows_of(map, {"b"})).empty());  // b2 is the same point
  const auto both = rows_of(map, {"b", "b2", "scalar"});
  CHECK(unplaced_points(both) == std::vector<std::string>{"D p--q"});
  // A point that another path leads to as well does not begin there.
  CHECK(
      gap_remarks(both) ==
      std::vector<std::string>{"without D p--q journeys end at D in--p, and begin anew at D q--r"});
  CHECK(gap_remarks(rows_of(map, {"d"})) ==
        std::vector<std::string>{"without D r--out journeys end at D q--r, D s--r.x"});
}

}  // namespace
}  // namespace sojourn::coarse
