// Programs that fire a schema's events have the points in the schema's JSON.
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <nlohmann/json.hpp>

#include "tests/support/child.h"

namespace sojourn {

namespace {

using nlohmann::json;

test::Ended succeed(std::vector<std::string> argv) {
  const std::string program = argv.front();
  test::Ended ended = test::run(std::move(argv));
  CAPTURE(program, ended.err, ended.out);
  REQUIRE(ended.exit_code == 0);
  return ended;
}

// Both schemas of the consumer, compiled into a directory that goes away.
struct Headers {
  test::TemporaryDirectory directory;

  Headers() {
    compile("radio.pleco", "radio");
    compile("events/radio_queues.pleco", "radio_queues");
  }

  void compile(const std::string& schema, const std::string& name) const {
    succeed({SJ_SOJOURN, "schema", SJ_CONSUMER "/" + schema, "--header",
             directory.path(name + ".h"), "--json", directory.path(name + ".json")});
  }

  // In the form of `sojourn list`, in order of their names.
  std::map<std::string, json> points() const {
    std::map<std::string, json> points;
    for (const std::string name : {"radio", "radio_queues"}) {
      const json document = json::parse(test::contents(directory.path(name + ".json")));
      for (const json& subsystem : document["subsystems"])
        for (const json& event : subsystem["events"]) points[event["words"][0]] = event;
    }
    return points;
  }
};

void has_the_points(const std::string& program, const std::map<std::string, json>& expected) {
  const json listed = json::parse(succeed({SJ_SOJOURN, "list", program, "--json"}).out);
  CHECK(listed["unusable"].empty());
  REQUIRE(listed["points"].size() == expected.size());
  for (const json& point : listed["points"]) {
    const std::string words =
        point["dir"].get<std::string>() + " " + point["name"].get<std::string>();
    INFO(words);
    REQUIRE(expected.contains(words));
    const json& event = expected.at(words);
    REQUIRE(point["fields"].size() == event["fields"].size());
    for (std::size_t i = 0; i < point["fields"].size(); ++i)
      for (const char* key : {"name", "role", "bytes"})
        CHECK(point["fields"][i][key] == event["fields"][i][key]);
  }
}

bool is_here(const std::string& compiler) {
  return test::run({"sh", "-c", "command -v " + compiler}).exit_code == 0;
}

}  // namespace

TEST_CASE("a program that fires a schema's events has exactly their points") {
  const auto [compiler, source, standard] = GENERATE(
      table<std::string, std::string, std::string>({{"gcc", "fires.c", "-std=c11"},
                                                    {"gcc", "fires.c", "-std=gnu17"},
                                                    {"g++", "fires.cpp", "-std=c++17"},
                                                    {"g++", "fires.cpp", "-std=c++23"},
                                                    {"clang-19", "fires.c", "-std=c11"},
                                                    {"clang++-19", "fires.cpp", "-std=c++17"},
                                                    {"clang++-19", "fires.cpp", "-std=c++20"}}));
  const std::string optimised = GENERATE("-O0", "-O2");
  CAPTURE(compiler, standard, optimised);
  if (!is_here(compiler)) SKIP(compiler << " is not installed");

  const Headers headers;
  const std::string program = headers.directory.path("fires");
  succeed({compiler, standard, optimised, "-Wall", "-Wextra", "-Wconversion", "-Wshadow",
           "-Wpedantic", "-Werror", "-I" SJ_INCLUDE, "-I" + headers.directory.path(),
           SJ_CONSUMER "/" + source, "-o", program});
  succeed({program});
  has_the_points(program, headers.points());
}

TEST_CASE("sojourn_schema makes the headers of a target in this build") {
  succeed({SJ_FIRES});
  has_the_points(SJ_FIRES, Headers().points());
}

TEST_CASE("a program that fires an event that the schema lacks does not compile") {
  const auto [statement, words] =
      GENERATE(table<std::string, std::string>({{"SJ_EVENT(MAC, SLOTS, 1);", "SJ_EVENT_MAC_SLOTS"},
                                                {"SJ_EVENT(MAC, GRANT, 1);", "SJ_EVENT_MAC_GRANT"},
                                                {"SJ_EVENT(MAC, SLOT, 1, 2);", "SJ_EVENT_MAC_SLOT"},
                                                {"SJ_EVENT(RLC, SLOT, 1);", "SJ_EVENT_RLC_SLOT"}}));
  const Headers headers;
  const std::string source = headers.directory.path("wrong.c");
  test::write_contents(source, "#include \"radio.h\"\nint main(void) {\n" + statement + "\n}\n");
  const test::Ended ended = test::run({"gcc", "-std=c11", "-Werror", "-fsyntax-only",
                                       "-I" SJ_INCLUDE, "-I" + headers.directory.path(), source});
  CAPTURE(ended.err);
  CHECK(ended.exit_code != 0);
  CHECK(ended.err.contains(words));
}

}  // namespace sojourn
