// Hits become points: by a map, or as scalars of their own shape.
#include "analysis/hits/hit_points.h"

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace sojourn::hits {
namespace {

HitPoints points(const std::string& text) {
  auto map = PointMap::parse(text, "m");
  REQUIRE(map.has_value());
  return HitPoints(std::move(*map));
}

Hit hit(std::string_view event, std::vector<HitField> fields) {
  Hit made;
  made.event = event;
  made.fields = std::move(fields);
  return made;
}

TEST_CASE("without a map an event is a scalar with its own fields") {
  HitPoints all = points("");
  std::vector<std::uint64_t> values;
  NoPoint why{};
  const auto first = all.of(hit("gnb:in", {{"len", 40}, {"rnti", 7}}), values, why);
  REQUIRE((first && *first));
  CHECK(values == std::vector<std::uint64_t>{40, 7});
  CHECK(all.schema().points[**first].name() == "gnb.in");
  CHECK(all.schema().points[**first].direction == model::Direction::kScalar);
  // The same event again, then events with other fields.
  CHECK(**all.of(hit("gnb:in", {{"len", 41}, {"rnti", 8}}), values, why) == **first);
  CHECK(**all.of(hit("gnb:in", {{"len", 41}}), values, why) != **first);
  CHECK(**all.of(hit("gnb:in", {}), values, why) != **first);
  CHECK(all.schema().points.size() == 3);
}

TEST_CASE("names that no point may have become such that one may") {
  HitPoints all = points("");
  std::vector<std::uint64_t> values;
  NoPoint why{};
  const auto id = all.of(hit("a b:c\x01<d>", {{"x y", 1}, {"", 2}}), values, why);
  REQUIRE((id && *id));
  CHECK(all.schema().points[**id].fields[1].name == "unnamed");
  const auto plain = all.of(hit("a b:c\x01<d>", {{"x y", 1}}), values, why);
  REQUIRE((plain && *plain));
  CHECK(all.schema().points[**plain].src == "a_b.c__d_");
  CHECK(all.schema().points[**plain].fields[0].name == "x_y");
}

TEST_CASE("a map names the fields of values, and the events to leave out") {
  HitPoints all = points("gnb:in D a--b len=arg1:rnti=arg2\ngnb:tick -\n");
  std::vector<std::uint64_t> values;
  NoPoint why{};
  const auto id = all.of(hit("gnb:in", {{"arg2", 7}, {"arg1", 40}, {"x", 1}}), values, why);
  REQUIRE((id && *id));
  CHECK(values == std::vector<std::uint64_t>{40, 7});
  const auto lacking = all.of(hit("gnb:in", {{"arg1", 40}}), values, why);
  REQUIRE(lacking.has_value());
  CHECK(!lacking->has_value());
  CHECK(why == NoPoint::kLacksField);
  CHECK(!all.of(hit("gnb:tick", {{"by", 1}}), values, why)->has_value());
  CHECK(why == NoPoint::kLeftOut);
  CHECK(!all.of(hit("gnb:tick", {}), values, why)->has_value());
  CHECK(all.schema().points.size() == 1);
}

TEST_CASE("more fields than a point has are left out") {
  HitPoints all = points("");
  std::vector<std::string> names;
  for (int at = 0; at < 30; ++at) names.push_back("f" + std::to_string(at));
  std::vector<HitField> fields;
  for (const std::string& name : names) fields.push_back({name, 1});
  std::vector<std::uint64_t> values;
  NoPoint why{};
  const auto id = all.of(hit("gnb:in", fields), values, why);
  REQUIRE((id && *id));
  CHECK(values.size() == model::kMaxFields);
  CHECK(all.schema().points[**id].fields.size() == model::kMaxFields);
}

}  // namespace
}  // namespace sojourn::hits
