// `sojourn schema` and its files; the language is tested in tests/unit/schema_language.
#include <chrono>
#include <filesystem>
#include <iterator>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <sys/stat.h>

#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSchema = "subsystem rail { event DEPART \"\", };\n";

std::size_t files_in(const test::TemporaryDirectory& directory) {
  const fs::directory_iterator all(directory.path());
  return static_cast<std::size_t>(std::distance(fs::begin(all), fs::end(all)));
}

struct Schema {
  test::TemporaryDirectory directory;
  std::string file = directory.path("rail.pleco");
  std::string header = directory.path("rail.h");
  std::string json = directory.path("rail.json");

  Schema() { test::write_contents(file, kSchema); }

  test::Ended compile() const {
    return sojourn({"schema", file, "--header", header, "--json", json});
  }
};

TEST_CASE("a schema becomes a header and JSON, and nothing else") {
  const Schema schema;
  REQUIRE(output_of({"schema", schema.file, "--header", schema.header, "--json", schema.json}) ==
          "");
  CHECK(test::contents(schema.header).contains("#define SJ_EVENT_RAIL_DEPART(sj_arg)"));
  CHECK(test::contents(schema.json).contains("\"SJ_EVENT_RAIL_DEPART\""));
  CHECK(files_in(schema.directory) == 3);
}

TEST_CASE("outputs may be read by the users whom the umask allows") {
  const Schema schema;
  const mode_t mask = umask(027);
  const test::Ended ended = schema.compile();
  umask(mask);
  REQUIRE(ended.exit_code == 0);
  struct stat status{};
  REQUIRE(stat(schema.header.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
}

TEST_CASE("a schema is only checked where no output is asked for") {
  const Schema schema;
  CHECK(output_of({"schema", schema.file}) == "");
  CHECK(files_in(schema.directory) == 1);
}

TEST_CASE("an output that would not change keeps its time, one that would does not") {
  const Schema schema;
  REQUIRE(schema.compile().exit_code == 0);
  const auto past = fs::last_write_time(schema.header) - std::chrono::hours(1);
  fs::last_write_time(schema.header, past);
  fs::last_write_time(schema.json, past);
  REQUIRE(schema.compile().exit_code == 0);
  CHECK(fs::last_write_time(schema.header) == past);
  CHECK(fs::last_write_time(schema.json) == past);

  // The text is in both.
  test::write_contents(schema.file, "subsystem rail { event DEPART \"Leaves\", };\n");
  REQUIRE(schema.compile().exit_code == 0);
  CHECK(fs::last_write_time(schema.header) > past);
  CHECK(fs::last_write_time(schema.json) > past);
}

TEST_CASE("a wrong schema is refused with its place, and the outputs stay as they were") {
  const Schema schema;
  test::write_contents(schema.header, "as it was\n");
  test::write_contents(schema.file, "subsystem rail {\n  event DEPART,\n};\n");
  require_pointed_error(
      schema.compile(),
      schema.file + ":2:15: expected the text of event \"DEPART\" in quotes, found \",\"");
  CHECK(test::contents(schema.header) == "as it was\n");
  CHECK(files_in(schema.directory) == 2);
}

TEST_CASE("a link to an output stays a link") {
  const Schema schema;
  const std::string real = schema.directory.path("real.h");
  test::write_contents(real, "old\n");
  fs::create_symlink(real, schema.header);
  REQUIRE(schema.compile().exit_code == 0);
  CHECK(fs::is_symlink(schema.header));
  CHECK(test::contents(real).contains("SJ_EVENT_RAIL_DEPART"));
}

TEST_CASE("files that cannot be used are refused in one line") {
  const Schema schema;
  SECTION("no schema") {
    require_error(sojourn({"schema", schema.directory.path("none")}), "No such file or directory");
  }
  SECTION("a directory as the schema") {
    require_error(sojourn({"schema", schema.directory.path()}), "Is a directory");
  }
  SECTION("a schema without end") {
    require_error(sojourn({"schema", "/dev/zero"}), "at most 4194304 are allowed");
  }
  SECTION("an output in a directory that is not there") {
    require_error(sojourn({"schema", schema.file, "--header", schema.directory.path("no/rail.h")}),
                  "No such file or directory");
  }
  SECTION("an output that is a directory") {
    require_error(sojourn({"schema", schema.file, "--json", schema.directory.path()}),
                  "not a regular file");
  }
  SECTION("an output that is no regular file") {
    const std::string fifo = schema.directory.path("fifo");
    REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
    require_error(sojourn({"schema", schema.file, "--header", fifo}), "not a regular file");
    CHECK(fs::is_fifo(fifo));
  }
  SECTION("the schema as its own output") {
    require_error(
        sojourn({"schema", schema.file, "--header", schema.directory.path("./rail.pleco")}),
        "it is the schema itself");
    CHECK(test::contents(schema.file) == kSchema);
  }
  SECTION("one file for both outputs") {
    require_error(
        sojourn({"schema", schema.file, "--header", schema.header, "--json", schema.header}),
        "it is both the header and the JSON");
  }
}

TEST_CASE("a schema has to be given") {
  CHECK(sojourn({"schema"}).exit_code == 2);
  CHECK(sojourn({"schema", "--header"}).exit_code == 2);
}

}  // namespace
}  // namespace sojourn::cli_tests
