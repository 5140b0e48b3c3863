#include "analysis/schema_language/schema_parser.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/schema_language/support.h"

namespace sojourn::schema_language {

namespace {

using model::Direction;
using model::Field;
using model::Role;

model::Point only_point(std::string_view event) {
  const Schema schema = parsed("subsystem s { event " + std::string(event) + ", };");
  REQUIRE(schema.subsystems.size() == 1);
  REQUIRE(schema.subsystems[0].events.size() == 1);
  return schema.subsystems[0].events[0].point;
}

std::string only_text(std::string_view text) {
  return parsed("subsystem s { event e " + std::string(text) + ", };").subsystems[0].events[0].text;
}

}  // namespace

TEST_CASE("a pleco file has its subsystems and events in order of declaration") {
  const Schema schema = parsed(read("plain.pleco"));
  REQUIRE(schema.subsystems.size() == 2);
  const Subsystem& rail = schema.subsystems[0];
  CHECK(rail.name == "rail");
  REQUIRE(rail.events.size() == 3);
  CHECK(rail.events[0].name == "DEPART");
  CHECK(rail.events[1].name == "ARRIVE");
  CHECK(rail.events[2].name == "SIGNAL_RED");
  CHECK(schema.subsystems[1].name == "rail_yard");
  REQUIRE(schema.subsystems[1].events.size() == 1);
  CHECK(schema.subsystems[1].events[0].name == "shunt");
}

TEST_CASE("an empty text is the event's name") {
  CHECK(only_text("\"\"") == "e");
  CHECK(only_text("\"\\&\"") == "e");
  CHECK(only_text("\" \"") == " ");
}

TEST_CASE("a text's escapes are those of pleco that one letter names") {
  CHECK(only_text(R"("a\n\t\"\\\'\a\b\f\r\vz")") == "a\n\t\"\\'\a\b\f\r\vz");
  CHECK(only_text("\"one \\\n   \\line\"") == "one line");
  CHECK(only_text("\"// not /* a comment\"") == "// not /* a comment");
  CHECK(only_text("\"Zürich\"") == "Zürich");
}

TEST_CASE("an event without way and fields is a scalar point with one argument of 32 bits") {
  const model::Point point = only_point("CSWITCH \"\"");
  CHECK(point == model::Point{.direction = Direction::kScalar,
                              .src = "s",
                              .dest = "CSWITCH",
                              .fields = {{.name = "arg", .role = Role::kProperty, .bytes = 4}},
                              .file = ""});
}

TEST_CASE("a way and fields are as declared") {
  const Schema schema = parsed(read("typed.pleco"));
  const Event& tx = schema.subsystems.at(0).events.at(0);
  CHECK(tx.text == "PDCP to RLC");
  CHECK(tx.point.direction == Direction::kDownlink);
  CHECK(tx.point.name() == "pdcp.tx--rlc.tx.am");
  const std::vector<Field> fields = {{"len", Role::kProperty, 4, false},
                                     {"margin", Role::kProperty, 1, true},
                                     {"rnti", Role::kGlobal, 2, false},
                                     {"drb", Role::kLocal, 1, false},
                                     {"psn", Role::kLocal, 8, false}};
  CHECK(tx.point.fields == fields);
}

TEST_CASE("every direction is understood") {
  CHECK(only_point("e \"\" D a--b").direction == Direction::kDownlink);
  CHECK(only_point("e \"\" U a--b").direction == Direction::kUplink);
  CHECK(only_point("e \"\" I a--b").direction == Direction::kScalar);
  CHECK(only_point("e \"\" S a--b").direction == Direction::kSync);
}

TEST_CASE("a way without fields keeps the one argument, and empty braces have none") {
  CHECK(only_point("e \"\" D a--b").fields.size() == 1);
  CHECK(only_point("e \"\" D a--b {}").fields.empty());
  CHECK(only_point("e \"\" {}").name() == "s--e");
}

TEST_CASE("the words of the additions are still names in pleco's part") {
  const Schema schema = parsed(
      "subsystem local { event D \"\", event u32 \"\", event property \"\" D D -- U { local u8 "
      "local; }, };");
  REQUIRE(schema.subsystems[0].events.size() == 3);
  CHECK(schema.subsystems[0].events[2].point.name() == "D--U");
  CHECK(schema.subsystems[0].events[2].point.fields[0].name == "local");
}

TEST_CASE("sixteen fields are taken") {
  std::string fields;
  for (int i = 0; i < 16; ++i) fields += "local u8 f" + std::to_string(i) + ";";
  CHECK(only_point("e \"\" {" + fields + "}").fields.size() == 16);
}

TEST_CASE("places that differ by a dot only are different points") {
  const Schema schema = parsed(
      "subsystem s { event e \"\" D a.b--c, event f \"\" D a_b--c, event g \"\" D a--b.c, };");
  CHECK(schema.subsystems[0].events.size() == 3);
}

TEST_CASE("blanks and comments may stand anywhere between two words") {
  CHECK(only_point("/**/e//\n\"\"\tD\r\n\fa\v--/*/* */*/b{property\nu8 x ; } ").fields.size() == 1);
}

}  // namespace sojourn::schema_language
