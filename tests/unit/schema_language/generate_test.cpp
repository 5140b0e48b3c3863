// The two outputs, compared as text. After a change that is meant: SJ_GOLDEN_UPDATE=1, then read
// the difference.
#include "analysis/schema_language/generate.h"

#include <cstdlib>
#include <fstream>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <nlohmann/json.hpp>

#include "tests/unit/schema_language/support.h"

namespace sojourn::schema_language {

namespace {

void compare(const std::string& made, const std::string& name) {
  if (std::getenv("SJ_GOLDEN_UPDATE") != nullptr)
    std::ofstream(SJ_HERE "/" + name, std::ios::binary) << made;
  CHECK(made == read(name));
}

std::string header_of_text(const std::string& text) {
  return generate_header(parsed("subsystem s { event e \"" + text + "\", };"), "s");
}

}  // namespace

TEST_CASE("the outputs of a schema are as they were") {
  const std::string name = GENERATE("plain", "typed");
  const Schema schema = parsed(read(name + ".pleco"));
  compare(generate_header(schema, name + ".pleco"), name + ".h.expected");
  compare(generate_json(schema, name + ".pleco"), name + ".json.expected");
}

TEST_CASE("the outputs do not say where the schema lies") {
  const Schema schema = parsed(read("plain.pleco"));
  CHECK(generate_header(schema, "/one/place/a.pleco") == generate_header(schema, "a.pleco"));
  CHECK(generate_json(schema, "../a.pleco") == generate_json(schema, "a.pleco"));
  CHECK(nlohmann::json::parse(generate_json(schema, "../a.pleco"))["schema"] == "a.pleco");
}

TEST_CASE("schemas of one file name and other content have other guards") {
  const auto guard = [](const std::string& text) {
    const std::string header = generate_header(parsed(text), "events.pleco");
    const auto from = header.find("#ifndef ");
    return header.substr(from, header.find('\n', from) - from);
  };
  const std::string one = guard("subsystem a { event e \"\", };");
  CHECK(one.starts_with("#ifndef SJ_SCHEMA_EVENTS_PLECO_"));
  CHECK(guard("subsystem b { event e \"\", };") != one);
  CHECK(guard("subsystem a { event e \"\" , } ;") == one);
}

TEST_CASE("no text leaves its comment in the header") {
  CHECK(header_of_text("a */ b").contains("\n/* a * / b */\n"));
  CHECK(header_of_text("a /* b").contains("\n/* a / * b */\n"));
  CHECK(header_of_text("/*/*/").contains("\n/* / * / * / */\n"));
  CHECK(header_of_text("a\\n#error b").contains("\n/* a?#error b */\n"));
  CHECK(header_of_text("Zürich").contains("\n/* Z??rich */\n"));
  CHECK(header_of_text("ends in \\\\").contains("\n/* ends in \\ */\n"));
}

TEST_CASE("any text is JSON") {
  const Schema schema = parsed("subsystem s { event e \"\\\"\\\\\\n Z\xc3\xbcrich \xff\", };");
  const auto json = nlohmann::json::parse(generate_json(schema, "s"));
  CHECK(json["subsystems"][0]["events"][0]["text"] == "\"\\\n Z\xc3\xbcrich \xef\xbf\xbd");
}

}  // namespace sojourn::schema_language
