#include "analysis/model/schema.h"

#include <string>

#include <catch2/catch_test_macros.hpp>

#include "analysis/model/capture_info.h"

namespace sojourn::model {
namespace {

// The error's text, or an empty text.
std::string error_of(std::string_view where, std::string_view format) {
  const auto point = parse_point(where, format);
  return point ? "" : point.error().text();
}

TEST_CASE("a point's words give its direction, places and fields by role") {
  const auto point = parse_point("D rlc.tx.am--rlc.seg.am", "len:rnti:drb.psn.so");
  REQUIRE(point);
  CHECK(point->direction == Direction::kDownlink);
  CHECK(point->src == "rlc.tx.am");
  CHECK(point->dest == "rlc.seg.am");
  CHECK(point->name() == "rlc.tx.am--rlc.seg.am");
  const std::vector<Field> expected = {{.name = "len", .role = Role::kProperty},
                                       {.name = "rnti", .role = Role::kGlobal},
                                       {.name = "drb", .role = Role::kLocal},
                                       {.name = "psn", .role = Role::kLocal},
                                       {.name = "so", .role = Role::kLocal}};
  CHECK(point->fields == expected);
  CHECK(point->field("psn") == 3);
  CHECK_FALSE(point->field("rsn"));
}

TEST_CASE("printf conversions in field names are dropped") {
  const auto point = parse_point("U phy.in.ant--phy.in.proc", "len%hu.round%d:rnti%u:harq%llu");
  REQUIRE(point);
  CHECK(format_fields(*point) == "len.round:rnti:harq");
}

TEST_CASE("groups may be empty or left out") {
  for (const auto& [format, canonical] : {std::pair{"", "::"},
                                          {":", "::"},
                                          {"::", "::"},
                                          {"len", "len::"},
                                          {"len:", "len::"},
                                          {":rnti", ":rnti:"},
                                          {"::psn.so", "::psn.so"},
                                          {"a:b:c", "a:b:c"}}) {
    const auto point = parse_point("I a--b", format);
    REQUIRE(point);
    CHECK(format_fields(*point) == canonical);
  }
}

TEST_CASE("formatted fields are read back as they were") {
  for (const char* format :
       {"::", "len:rnti:drb.psn.so", "len.round:rnti:harq.slot", ":a.b.c:", "::x"}) {
    const auto point = parse_point("S a--b", format);
    REQUIRE(point);
    const auto again = parse_point("S a--b", format_fields(*point));
    REQUIRE(again);
    CHECK(*again == *point);
  }
}

TEST_CASE("a unit may leave for nowhere but not come from nowhere") {
  const auto point = parse_point("D mac.harq.down--", "");
  REQUIRE(point);
  CHECK(point->dest.empty());
  CHECK(error_of("D --mac", "") == "point \"D --mac\": does not say where its unit comes from");
}

TEST_CASE("a scalar and a clock may name one place only") {
  for (const auto& [where, direction] :
       {std::pair{"I mac.harq.up", Direction::kScalar}, {"S rdtsc", Direction::kSync}}) {
    const auto point = parse_point(where, "nack%d:ue%d");
    REQUIRE(point);
    CHECK(point->direction == direction);
    CHECK(point->src == std::string(where).substr(2));
    CHECK(point->dest.empty());
    CHECK(point->name() == point->src);
  }
  CHECK(error_of("I ", "") == "point \"I \": does not say where its unit comes from");
}

TEST_CASE("an error in a point's name is reported precisely") {
  constexpr std::string_view kNoDirection = "does not begin with \"D \", \"U \", \"I \" or \"S \"";
  for (const char* where : {"", "D", "X a--b", "Da--b", "d a--b", " D a--b", "K a", "Q a"})
    CHECK(error_of(where, "") == fmt::format("point \"{}\": {}", where, kNoDirection));
  CHECK(error_of("D a-b", "") == "point \"D a-b\": has no \"--\" between its two places");
  CHECK(error_of("D ", "") == "point \"D \": has no \"--\" between its two places");
  CHECK(error_of("D a b--c", "") == "point \"D a b--c\": a place's name has a space in it");
}

TEST_CASE("an error in a point's fields is reported precisely") {
  CHECK(error_of("D a--b", "a:b:c:d") == "fields \"a:b:c:d\": more than two ':'");
  CHECK(error_of("D a--b", "len::a..b") == "fields \"len::a..b\": a field has no name");
  CHECK(error_of("D a--b", "%d") == "fields \"%d\": a field has no name");
  CHECK(error_of("D a--b", "l n") ==
        "fields \"l n\": \"l n\" is no name of letters, digits, '_' and '-'");
}

TEST_CASE("a field's name may stand more than once, and each is a field") {
  const auto point = parse_point("U rlc.rx.am--pdcp.rx", "len%d:rnti%d:drb%d.psn%d.psn%d");
  REQUIRE(point);
  REQUIRE(point->fields.size() == 5);
  CHECK(point->fields[3] == point->fields[4]);
  CHECK(point->fields[4].name == "psn");
  CHECK(point->field("psn") == 3);
  CHECK(format_fields(*point) == "len:rnti:drb.psn.psn");
}

TEST_CASE("a dot that ends a group is a field without a name") {
  CHECK(error_of("D a--b", "len.") == "fields \"len.\": a field has no name");
  CHECK(error_of("D a--b", ".len") == "fields \".len\": a field has no name");
}

TEST_CASE("a point has at most sixteen fields") {
  std::string format = "::f0";
  for (int i = 1; i < 16; ++i) format += fmt::format(".f{}", i);
  const auto point = parse_point("D a--b", format);
  REQUIRE(point);
  CHECK(point->fields.size() == 16);
  CHECK(error_of("D a--b", format + ".f16").ends_with(": more than 16"));
}

TEST_CASE("words that a terminal or a log would choke on are refused by position") {
  CHECK(error_of("D a\x1b[2J--b", "") ==
        "a point's name has an unprintable character at position 4");
  CHECK(error_of("D a--b", "len\n") ==
        "a point's fields has an unprintable character at position 4");
  CHECK(error_of(std::string_view("D a--b\0", 7), "") ==
        "a point's name has an unprintable character at position 7");
  CHECK(error_of("D \xff--b", "") == "a point's name has an unprintable character at position 3");
}

TEST_CASE("words longer than any honest program's are refused") {
  const std::string longest = "D a--" + std::string(251, 'b');
  CHECK(parse_point(longest, ""));
  CHECK(error_of(longest + "b", "") == "a point's name of 257 characters: at most 256 are allowed");
  CHECK(error_of("D a--b", std::string(257, 'f')) ==
        "a point's fields of 257 characters: at most 256 are allowed");
}

TEST_CASE("names and letters of stored values are each other's inverse") {
  for (const auto direction : {Direction::kDownlink, Direction::kUplink, Direction::kScalar,
                               Direction::kSync, Direction::kContext, Direction::kSample})
    CHECK(direction_from_letter(letter(direction)) == direction);
  CHECK_FALSE(direction_from_letter('X'));
  CHECK_FALSE(direction_from_letter('\0'));
  for (const auto role : {Role::kProperty, Role::kGlobal, Role::kLocal})
    CHECK(role_from_name(name(role)) == role);
  CHECK_FALSE(role_from_name("locals"));
}

TEST_CASE("a value that a newer writer stored has a name all the same") {
  // NOLINTBEGIN(clang-analyzer-optin.core.EnumCastOutOfRange): what the test is about
  CHECK(name(static_cast<LossCause>(200)) == "unknown");
  CHECK(name(static_cast<Engine>(200)) == "unknown");
  CHECK(name(static_cast<Role>(200)) == "unknown");
  // NOLINTEND(clang-analyzer-optin.core.EnumCastOutOfRange)
}

}  // namespace
}  // namespace sojourn::model
