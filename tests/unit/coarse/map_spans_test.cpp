// Spans and exits in maps, and the errors of invalid ones.
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "userspace/coarse/map/map_file.h"

namespace sojourn::coarse {
namespace {

Map parsed(const std::string& text) {
  auto map = parse_map(text, "my.toml");
  if (!map) FAIL(map.error().text());
  return std::move(*map);
}

void check_refused(const std::string& text, const std::string& place, const std::string& words) {
  const auto map = parse_map(text, "my.toml");
  CAPTURE(text);
  REQUIRE_FALSE(map);
  CAPTURE(map.error().text());
  CHECK(map.error().text().starts_with(place));
  CHECK(map.error().text().contains(words));
}

TEST_CASE("a span is two points: its beginning has the arguments, its end the result and the ids") {
  const Map map = parsed(R"toml(
[[span]]
function = "f"
library = "libf*"
name = "work"
direction = "U"
number = "arg0"
sn = "(u32)arg1"
result = "(s32)ret"
behind = "*(u32*)(ret + 8)"
inherit = ["slot"]
local = ["sn", "slot"]

[[point]]
function = "g"
slot = "arg0"
)toml");
  CHECK(map.needs_calls);
  REQUIRE(map.points.size() == 3);
  const MapPoint& begin = map.points[1];
  const MapPoint& end = map.points[2];
  CHECK(begin.part == SpanPart::kSpanBegin);
  CHECK_FALSE(begin.is_exit);
  CHECK(begin.src == "call.work");
  CHECK(begin.dest == "work");
  REQUIRE(begin.fields.size() == 3);
  CHECK(begin.fields[0].name == "number");
  CHECK(begin.fields[1].name == "sn");
  CHECK(end.part == SpanPart::kSpanEnd);
  CHECK(end.is_exit);
  CHECK(end.function == "f");
  CHECK(end.library == "libf*");
  CHECK(end.direction == model::Direction::kUplink);
  CHECK(end.src == "work");
  CHECK(end.dest == "done.work");
  REQUIRE(end.fields.size() == 4);
  CHECK(end.fields[0].name == "result");
  CHECK(end.fields[1].name == "behind");
  CHECK(end.fields[2].name == "sn");
  CHECK(end.fields[2].is_of_own_call);
  CHECK(end.fields[2].role == model::Role::kLocal);
  CHECK(end.fields[3].name == "slot");
  CHECK_FALSE(end.fields[3].is_of_own_call);  // the call around it has it
}

TEST_CASE("the result of a span may be an id of its end, and addresses begin and end with a span") {
  const Map map = parsed(R"toml(
[[span]]
function = "exchange"
name = "work"
old = "arg0"
new = "ret"
own = "arg1"
local = ["old", "new", "own"]
begins = ["new", "own"]
ends = ["old", "own"]
)toml");
  using model::Life;
  const auto lives_of = [](const MapPoint& point) {
    std::vector<std::pair<std::string, Life>> lives;
    for (const MapLife& life : point.lives) lives.emplace_back(life.field, life.what);
    return lives;
  };
  using Lives = std::vector<std::pair<std::string, Life>>;
  CHECK(lives_of(map.points.at(0)) == Lives{{"own", Life::kBegins}});
  CHECK(lives_of(map.points.at(1)) ==
        Lives{{"new", Life::kBegins}, {"old", Life::kEnds}, {"own", Life::kEnds}});
  const MapPoint& end = map.points.at(1);
  REQUIRE(end.fields.size() == 3);
  CHECK(end.fields[0].name == "new");
  CHECK(end.fields[0].role == model::Role::kLocal);
  CHECK_FALSE(end.fields[0].is_inherited);
  CHECK(end.fields[1].is_of_own_call);
}

TEST_CASE("a span may be a part of a unit's way, and is else named as its function is") {
  const Map map = parsed(
      "[[span]]\nfunction='f'\nname='work'\nsrc='in'\ndest='out'\n[[span]]\nfunction='g*'\n");
  CHECK(map.points[0].src == "in");
  CHECK(map.points[0].dest == "work");
  CHECK(map.points[1].dest == "out");
  CHECK(map.points[0].direction == model::Direction::kDownlink);
  CHECK(map.points[2].dest.empty());
  CHECK(map.points[3].src.empty());
}

TEST_CASE("calls within a span are linked to its beginning, not to its end") {
  const Map map = parsed(R"toml(
[[span]]
function = "f"
name = "work"
dest = "next"
[[point]]
function = "g"
direction = "D"
src = "work"
dest = "next"
link = "nesting"
)toml");
  using model::Link;
  using model::LinkEnd;
  CHECK(map.points[1].links == std::vector<MapLink>{{Link::kCall, "work", LinkEnd::kGives}});
  CHECK(map.points[2].links.empty());
  check_refused(
      "[[span]]\nfunction='f'\nname='work'\ndest='next'\n[[point]]\nfunction='g'\n"
      "direction='D'\nsrc='next'\ndest='x'\nlink='nesting'\n",
      "my.toml:10:6", "no other point of the map leads to 'next'");
}

TEST_CASE("a point may be where a function is left") {
  const Map map = parsed("[[point]]\nfunction='f'\nat='exit'\nx='(s8)ret'\nwhen='x != 0'\n");
  REQUIRE(map.points.size() == 1);
  CHECK(map.points[0].part == SpanPart::kPoint);
  CHECK(map.points[0].is_exit);
  CHECK(map.needs_calls);
  CHECK_FALSE(parsed("[[point]]\nfunction='f'\nat='entry'\n").points[0].is_exit);
}

TEST_CASE("an error in a span or an exit is reported with its line and column") {
  check_refused("[[span]]\nname='x'\n", "my.toml:1:1", "the span has no function");
  check_refused("[[span]]\nfunction='f'\nwhen='x == 1'\n", "my.toml:3:1", "'when' means nothing");
  check_refused("[[span]]\nfunction='f'\nat='exit'\n", "my.toml:3:1", "'at' means nothing");
  check_refused("[[span]]\nfunction='f'\nname='a--b'\n", "my.toml:3:6", "no name of a place");
  check_refused("[[span]]\nfunction='f'\ndirection='I'\n", "my.toml:3:11", "\"D\" or \"U\"");
  check_refused("[[span]]\nfunction='f'\nname=3\n", "my.toml:3:6", "a text in quotes");
  check_refused("[[span]]\nfunction='f'\nlocal=['sn']\n", "my.toml:3:8", "no field 'sn'");
  check_refused("[[span]]\nfunction='f'\nx='ret'\nbegins=['x']\n", "my.toml:4:9",
                "'x' is not among the point's ids");
  check_refused("[[span]]\nfunction='f'\nx='ret'\nlocal=['x']\nbegins=['x']\nends=['x']\n",
                "my.toml:6:7", "what becomes of 'x' is said twice");
  check_refused(
      "[[span]]\nfunction='f'\ninherit=['x']\nlocal=['x']\nends=['x']\n[[point]]\nfunction='g'\n"
      "x='arg0'\n",
      "my.toml:5:7", "'x' is inherited: write it at the point that reads the value");
  check_refused("span = 3\n", "my.toml:1:8", "a line [[span]] for each");
  check_refused("[[point]]\nfunction='f'\nat='end'\n", "my.toml:3:4",
                "expected \"entry\" or \"exit\"");
  check_refused("[[point]]\nfunction='f'\nat='exit'\nx='arg0'\n", "my.toml:4:1",
                "no more is known than 'ret'");
  check_refused("[[point]]\nfunction='f'\nat='exit'\nx='pdu->sn'\n", "my.toml:4:1",
                "no more is known than 'ret'");
}

}  // namespace
}  // namespace sojourn::coarse
