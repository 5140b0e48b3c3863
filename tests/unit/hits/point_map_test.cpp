// The file that says which events are which points.
#include "analysis/hits/point_map.h"

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::hits {
namespace {

TEST_CASE("a line names an event, its point, and where each field is") {
  const auto map = PointMap::parse(
      "# a comment\n\n"
      "gnb:in*  D ip.in--pdcp.in  len=arg1:rnti=arg2:psn  # and more\r\n"
      "gnb:tick -\n"
      "*:bsr    I bsr             bytes:by%d.more%d=arg2",
      "gnb.map");
  REQUIRE(map.has_value());
  const MappedPoint* const in = map->find("gnb:in_1");
  REQUIRE(in != nullptr);
  CHECK(in->point.direction == model::Direction::kDownlink);
  CHECK(in->point.name() == "ip.in--pdcp.in");
  CHECK(model::format_fields(in->point) == "len:rnti:psn");
  CHECK(in->sources == std::vector<std::string>{"arg1", "arg2", "psn"});
  CHECK(map->find("gnb:tick")->is_left_out);
  const MappedPoint* const bsr = map->find("enb:bsr");
  CHECK(bsr->point.name() == "bsr");
  CHECK(bsr->sources == std::vector<std::string>{"bytes", "by", "arg2"});
  CHECK(!bsr->point.fields[0].is_signed);
  CHECK(bsr->point.fields[1].is_signed);
  CHECK(bsr->point.fields[2].is_signed);
  CHECK(map->find("gnb:tick2") == nullptr);
  CHECK(map->find("") == nullptr);
}

TEST_CASE("the first line that fits counts") {
  const auto map = PointMap::parse("gnb:a I one\ngnb:* I two\n* -\n", "m");
  REQUIRE(map.has_value());
  CHECK(map->find("gnb:a")->point.name() == "one");
  CHECK(map->find("gnb:b")->point.name() == "two");
  CHECK(map->find("x")->is_left_out);
}

TEST_CASE("an error is reported with its file and line") {
  const std::vector<std::pair<std::string, std::string>> mistakes = {
      {"a:b", "m:1: \"a:b\" wants a point"},
      {"\na:b D", "m:2: \"a:b\" wants a point"},
      {"a:b D in", "m:1: point \"D in\": has no \"--\""},
      {"a:b X in--out", "m:1: point \"X in--out\""},
      {"a:b D in--out len:rnti:a:b", "more than two ':'"},
      {"a:b D in--out len=", "takes its value from nothing"},
      {"a:b D in--out len more", "behind the fields"},
      {"a:b - more", "behind \"-\""},
      {"a:b D in--out =arg1", "m:1: "}};
  for (const auto& [text, words] : mistakes) {
    CAPTURE(text);
    const auto map = PointMap::parse(text, "m");
    REQUIRE(!map.has_value());
    CHECK(map.error().text().contains(words));
  }
}

}  // namespace
}  // namespace sojourn::hits
