// The picture of a packet that docs/pictures/packet.py draws.
#include <string>

#include <catch2/catch_test_macros.hpp>

#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

test::Ended draw(const std::string& trace, const std::string& expression) {
  return test::run({"python3", SJ_PICTURES "/packet.py", SJ_SOJOURN, trace, expression});
}

TEST_CASE("a packet is drawn with all places that it was in, as well-formed SVG") {
  const Traces traces;
  const test::Ended ended = draw(traces.path("radio"), "dir == D && segments > 1");
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK(ended.out.starts_with("<svg "));
  CHECK(ended.out.contains(">rlc.tx.um<"));
  CHECK(ended.out.contains(">waits here, and leaves in 2 segments<"));
  CHECK(ended.out.contains("prefers-color-scheme: dark"));
  const std::string file = traces.directory().path("packet.svg");
  test::write_contents(file, ended.out);
  const test::Ended parsed = test::run(
      {"python3", "-c", "import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])", file});
  INFO(parsed.err);
  CHECK(parsed.exit_code == 0);
}

TEST_CASE("no picture is drawn if no packet fits the request") {
  const Traces traces;
  const test::Ended ended = draw(traces.path("radio"), "segments > 1000");
  CHECK(ended.exit_code == 1);
  CHECK(ended.out.empty());
  CHECK(ended.err.contains("no packet for which segments > 1000"));
}

}  // namespace
}  // namespace sojourn::cli_tests
