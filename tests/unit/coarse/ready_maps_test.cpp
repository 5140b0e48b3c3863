// The maps that come with sojourn: all of them are there by name, and are maps.
#include "userspace/coarse/map/ready_maps.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "userspace/coarse/map/map_file.h"

namespace sojourn::coarse {
namespace {

TEST_CASE("each ready map can be read, and describes itself") {
  std::vector<std::string> names;
  for (const ReadyMap& ready : ready_maps()) {
    CAPTURE(ready.name);
    names.emplace_back(ready.name);
    const auto map = parse_map(ready.text, std::string(ready.name) + ".toml");
    if (!map) FAIL(map.error().text());
    CHECK_FALSE(map->about.empty());
    CHECK(map->points.size() >= 4);
  }
  CHECK(std::ranges::is_sorted(names));
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(SJ_MAPS))
    files.insert(entry.path().stem().string());
  CHECK(std::set<std::string>(names.begin(), names.end()) == files);
}

TEST_CASE("each program has one ready map, and each ready map has a program") {
  std::set<std::string> programs;
  std::set<std::string_view> maps;
  for (const ReadyProgram& ready : ready_programs()) {
    CAPTURE(ready.program);
    CHECK(programs.insert(ready.program).second);
    maps.insert(ready.map);
  }
  CHECK(maps.size() == ready_maps().size());
  CHECK(programs.contains("osmo-bts-virtual"));
  CHECK(programs.contains("nr-softmodem"));
}

bool has(const MapPoint& point, const std::string& release) {
  const auto is_among = [&](const std::vector<std::string>& names) {
    return std::ranges::find(names, release) != names.end();
  };
  return !is_among(point.not_in) && (point.only_in.empty() || is_among(point.only_in));
}

// Two functions of one name would be one point with two sites: a slip of the pen.
TEST_CASE("no map that comes with sojourn names a function twice in one release") {
  for (const ReadyMap& ready : ready_maps()) {
    CAPTURE(ready.name);
    const auto map = parse_map(ready.text, "ready");
    REQUIRE(map);
    std::vector<std::string> releases = {"one that nobody knows"};
    for (const MapRelease& release : map->releases) releases.push_back(release.name);
    for (const std::string& release : releases) {
      CAPTURE(release);
      std::set<std::string> functions;
      for (const MapPoint& point : map->points)
        if (has(point, release)) CHECK(functions.insert(point.function).second);
    }
  }
}

}  // namespace
}  // namespace sojourn::coarse
