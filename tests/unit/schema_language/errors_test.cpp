// Every error of a schema: its place, the expected and the found text.
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "tests/unit/schema_language/support.h"

namespace sojourn::schema_language {

namespace {

struct Wrong {
  std::string schema;
  std::string error;
};

const std::string kName =
    ": a letter, then up to 99 letters, digits and '_', not \"subsystem\" or \"event\"";
const std::string kPlace =
    "expected a place: names of letters, digits and '_', with one dot between two";

std::string in_subsystem(const std::string& events) {
  return "subsystem s {\n" + events + "\n};\n";
}

std::string with_fields(const std::string& fields) {
  return in_subsystem("event e \"\" {\n" + fields + "\n},");
}

}  // namespace

TEST_CASE("a subsystem that is wrong is refused with its place") {
  const auto [schema, error] = GENERATE(values<Wrong>({
      {"", "s:1:1: expected \"subsystem\", found the end of the file"},
      {" // nothing\n\n ", "s:3:2: expected \"subsystem\", found the end of the file"},
      {"system s {};", "s:1:1: expected \"subsystem\", found \"system\""},
      {"subsystem {", "s:1:11: expected the name of a subsystem" + kName + ", found \"{\""},
      {"subsystem event {",
       "s:1:11: expected the name of a subsystem" + kName + ", found \"event\""},
      {"subsystem 5g {", "s:1:11: expected the name of a subsystem" + kName + ", found \"5g\""},
      {"subsystem _s {", "s:1:11: expected the name of a subsystem" + kName + ", found \"_s\""},
      {"subsystem a.b {", "s:1:11: expected the name of a subsystem" + kName + ", found \"a.b\""},
      {"subsystem a' {", "s:1:11: expected the name of a subsystem" + kName + ", found \"a'\""},
      {"subsystem s event",
       "s:1:13: expected \"{\" before the events of the subsystem, found \"event\""},
      {"subsystem s {};", "s:1:14: expected \"event\", found \"}\""},
      {in_subsystem("event e \"\", e"), "s:2:13: expected \"event\", found \"e\""},
      {"subsystem s { event e \"\",", "s:1:26: expected \"event\", found the end of the file"},
      {"subsystem s { event e \"\", }",
       "s:1:28: expected \";\" behind the subsystem \"s\", found the end of the file"},
      {"subsystem s { event e \"\", } subsystem",
       "s:1:29: expected \";\" behind the subsystem \"s\", found \"subsystem\""},
      {in_subsystem("event e \"\",") + "x", "s:4:1: expected \"subsystem\", found \"x\""},
      {in_subsystem("event e \"\",") + ";", "s:4:1: expected \"subsystem\", found \";\""},
  }));
  CHECK(error_of(schema) == error);
}

TEST_CASE("an event that is wrong is refused with its place") {
  const auto [events, error] = GENERATE(values<Wrong>({
      {"event \"\",", "s:2:7: expected the name of an event" + kName + ", found a text in quotes"},
      {"event subsystem \"\",",
       "s:2:7: expected the name of an event" + kName + ", found \"subsystem\""},
      {"event e,", "s:2:8: expected the text of event \"e\" in quotes, found \",\""},
      {"event e \"\"\n",
       "s:4:1: expected a direction (D, U, I or S), fields in braces, or \",\" behind event \"e\", "
       "found \"}\""},
      {"event e \"\" event",
       "s:2:12: expected a direction (D, U, I or S), fields in braces, or \",\", found \"event\""},
      {"event e \"\" d a--b,",
       "s:2:12: expected a direction (D, U, I or S), fields in braces, or \",\", found \"d\""},
      {"event e \"\" \"\",",
       "s:2:12: expected a direction (D, U, I or S), fields in braces, or \",\" behind event "
       "\"e\", "
       "found a text in quotes"},
      {"event e \"\" D -- b,", "s:2:14: " + kPlace + ", found \"--\""},
      {"event e \"\" D a b,", "s:2:16: expected \"--\" between the two places, found \"b\""},
      {"event e \"\" D a--,", "s:2:17: " + kPlace + ", found \",\""},
      {"event e \"\" D .a--b,", "s:2:14: " + kPlace + ", found \".a\""},
      {"event e \"\" D a.--b,", "s:2:14: " + kPlace + ", found \"a.\""},
      {"event e \"\" D a--b..c,", "s:2:17: " + kPlace + ", found \"b..c\""},
      {"event e \"\" D a--b'c,", "s:2:17: " + kPlace + ", found \"b'c\""},
      {"event e \"\" D a--b c,",
       "s:2:19: expected fields in braces, or \",\" behind event \"e\", found \"c\""},
      {"event e \"\" {} {}", "s:2:15: expected \",\" behind event \"e\", found \"{\""},
  }));
  CHECK(error_of(in_subsystem(events)) == error);
}

TEST_CASE("a field that is wrong is refused with its place") {
  const auto [fields, error] = GENERATE(values<Wrong>({
      {"u32 len;",
       "s:3:1: expected a field (property, global or local, its type, its name), or \"}\", found "
       "\"u32\""},
      {"{",
       "s:3:1: expected a field (property, global or local, its type, its name), or \"}\", found "
       "\"{\""},
      {"property len;",
       "s:3:10: expected a type (u8, u16, u32, u64, s8, s16, s32 or s64), found \"len\""},
      {"property u128 len;",
       "s:3:10: expected a type (u8, u16, u32, u64, s8, s16, s32 or s64), found \"u128\""},
      {"property u32;", "s:3:13: expected the name of a field" + kName + ", found \";\""},
      {"property u32 a-b;", "s:3:15: expected a word, a text or one of { } , ; --, found '-'"},
      {"property u32 a.b;", "s:3:14: expected the name of a field" + kName + ", found \"a.b\""},
      {"property u32 a, local u8 b;", "s:3:15: expected \";\" behind a field, found \",\""},
      {"property u32 a\n", "s:5:1: expected \";\" behind a field, found \"}\""},
      {"property u32 a; local u8 a;", "s:3:26: expected a field of another name, found \"a\""},
      {"local u8 a;\nproperty u8 b;",
       "s:4:1: expected properties first, then globals, then locals, found \"property\""},
      {"local u8 a; global u8 b;",
       "s:3:13: expected properties first, then globals, then locals, found \"global\""},
  }));
  CHECK(error_of(with_fields(fields)) == error);
}

TEST_CASE("a seventeenth field is refused") {
  std::string fields;
  for (int i = 0; i < 17; ++i) fields += "local u8 f" + std::to_string(i) + ";\n";
  CHECK(error_of(with_fields(fields)) ==
        "s:19:1: expected \"}\" behind 16 fields, the most there may be, found \"local\"");
}

TEST_CASE("an invalid word, text or symbol is refused with its place") {
  const auto [schema, error] = GENERATE(values<Wrong>({
      {"\tsubsystem s = {", "s:1:14: expected a word, a text or one of { } , ; --, found '='"},
      {std::string("subsystem\0 s", 12),
       "s:1:10: expected a word, a text or one of { } , ; --, found byte 0x00"},
      {"\xef\xbb\xbfsubsystem",
       "s:1:1: expected a word, a text or one of { } , ; --, found byte 0xef"},
      {"/* one\n /* two */",
       "s:1:1: expected a \"*/\" for every \"/*\" of the comment that begins here, found the end "
       "of the "
       "file"},
      {"/*/",
       "s:1:1: expected a \"*/\" for every \"/*\" of the comment that begins here, found the end "
       "of the file"},
      {"/", "s:1:1: expected a word, a text or one of { } , ; --, found '/'"},
      {in_subsystem("event e \"text,"),
       "s:2:15: expected a '\"' that ends the text, found the end of the line"},
      {"subsystem s { event e \"text",
       "s:1:23: expected a '\"' that ends the text that begins here, found the end of the file"},
      {in_subsystem("event e \"a\tb\","),
       "s:2:11: expected a text without control characters, found byte 0x09"},
      {in_subsystem(std::string("event e \"\0\",", 12)),
       "s:2:10: expected a text without control characters, found byte 0x00"},
      {in_subsystem("event e \"Zürich\\q\","),
       "s:2:17: expected one of n t \" \\ ' & a b f r v behind '\\', found 'q'"},
      {"subsystem s { event e \"\\",
       "s:1:25: expected one of n t \" \\ ' & a b f r v behind '\\', found the end of the file"},
      {in_subsystem("event e \"\\  x\","),
       "s:2:13: expected a '\\' that ends the gap in the text, found 'x'"},
  }));
  CHECK(error_of(schema) == error);
}

TEST_CASE("names that would share a macro are refused, whichever macro it is") {
  const auto [schema, error] = GENERATE(values<Wrong>({
      {in_subsystem("event e \"\",\nevent e \"\","),
       "s:3:7: expected a name whose macros are its own, found SJ_EVENT_ID_S_E, which event \"e\" "
       "of "
       "\"s\" in line 2 has already"},
      {in_subsystem("event e \"\",\nevent E \"\","),
       "s:3:7: expected a name whose macros are its own, found SJ_EVENT_ID_S_E, which event \"e\" "
       "of "
       "\"s\" in line 2 has already"},
      {in_subsystem("event e \"\",") + "subsystem S { event f \"\", };",
       "s:4:11: expected a name whose macros are its own, found SJ_SUBSYS_S, which subsystem \"s\" "
       "in "
       "line 1 has already"},
      {"subsystem a { event b_c \"\", };\nsubsystem a_b { event c \"\", };",
       "s:2:23: expected a name whose macros are its own, found SJ_EVENT_ID_A_B_C, which event "
       "\"b_c\" of \"a\" in line 1 has already"},
      {"subsystem a { event b \"\", };\nsubsystem ID { event a_b \"\", };",
       "s:2:22: expected a name whose macros are its own, found SJ_EVENT_ID_A_B, which event \"b\" "
       "of "
       "\"a\" in line 1 has already"},
  }));
  CHECK(error_of(schema) == error);
}

TEST_CASE("two events that a trace could not distinguish are refused") {
  CHECK(error_of(in_subsystem("event e \"\" D a--b,\nevent f \"\" D a--b { property u8 arg; },")) ==
        "s:3:7: expected an event that is a point of its own, found the point \"D a--b\" of event "
        "\"e\" of \"s\" in line 2");
  CHECK(error_of(in_subsystem("event e \"\" D a--b,\nevent f \"\" U a--b,")) == "");
  CHECK(error_of(in_subsystem("event e \"\" D a--b,\nevent f \"\" D a--b { local u8 arg; },")) ==
        "");
}

TEST_CASE("names longer than a point's words are refused") {
  const std::string longest(100, 'n');
  CHECK(error_of("subsystem " + longest + " { event " + longest + " \"\", };") == "");
  CHECK(error_of("subsystem " + longest + "x { event e \"\", };") ==
        "s:1:11: expected the name of a subsystem" + kName + ", found \"" + std::string(60, 'n') +
            "...\"");
  CHECK(error_of(in_subsystem("event e \"\" D " + std::string(300, 'p') + " -- b,")) ==
        "s:2:7: expected an event that makes a point, found a point's name of 305 characters: at "
        "most "
        "256 are allowed");
  CHECK(error_of(with_fields("local u8 a" + std::string(99, 'x') + ";local u8 b" +
                             std::string(99, 'x') + ";local u8 c" + std::string(99, 'x') + ";")) ==
        "s:2:7: expected an event that makes a point, found a point's fields of 304 characters: at "
        "most 256 are allowed");
}

}  // namespace sojourn::schema_language
