#include "userspace/files/rules_reader.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/support/child.h"

namespace sojourn::files {
namespace {

TEST_CASE("rules are read from a file, which is named where they are wrong") {
  const test::TemporaryDirectory directory;
  const auto path = directory.path("x.rules");
  test::write_contents(path, "journey U leaves\n");
  REQUIRE(read_rules(path));
  CHECK(read_rules(path)->uplink == journeys::Anchor::kOutput);
  test::write_contents(path, "journey X\n");
  CHECK(read_rules(path).error().text().starts_with(path + ":1:9: expected"));
}

TEST_CASE("a file that cannot be read says so") {
  CHECK(read_rules("/nonexistent.rules").error().text() ==
        "open /nonexistent.rules: No such file or directory");
  CHECK_FALSE(read_rules("/proc/self"));
  CHECK(read_rules("/dev/zero").error().text().contains("larger than 1 MiB"));
}

}  // namespace
}  // namespace sojourn::files
