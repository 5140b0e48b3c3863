// The cached profile of a machine: its lifetime, and whose files are used.
#include "userspace/host/profile_cache.h"

#include <catch2/catch_test_macros.hpp>
#include <unistd.h>

#include "tests/support/child.h"
#include "tests/unit/host/profiles.h"

namespace sojourn::host {
namespace {

constexpr std::uint64_t kNow = 1'800'000'100;  // a little later than whole_profile()

TEST_CASE("a profile is kept for its boot, and until it is old") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("deep/er/host.json");
  REQUIRE(write_cached(path, whole_profile(), kNow).has_value());
  CHECK(read_cached(path, "b007", kNow) == whole_profile());
  CHECK_FALSE(read_cached(path, "another boot", kNow));
  CHECK_FALSE(read_cached(path, "", kNow));
  CHECK(read_cached(path, "b007", 1'800'000'000 + kFreshSeconds).has_value());
  CHECK_FALSE(read_cached(path, "b007", 1'800'000'001 + kFreshSeconds));
  CHECK_FALSE(read_cached(directory.path("none"), "b007", kNow));
  CHECK_FALSE(read_cached("", "b007", kNow));
}

TEST_CASE("a brief profile that was disturbed is not kept for long") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("host.json");
  HostProfile brief = whole_profile();
  brief.form = "brief";
  REQUIRE(write_cached(path, brief, kNow).has_value());
  CHECK(read_cached(path, "b007", 1'800'000'000 + kDisturbedSeconds).has_value());
  CHECK_FALSE(read_cached(path, "b007", 1'800'000'001 + kDisturbedSeconds));
  brief.warnings.clear();
  REQUIRE(write_cached(path, brief, kNow).has_value());
  CHECK(read_cached(path, "b007", 1'800'000'001 + kDisturbedSeconds).has_value());
}

TEST_CASE("a smaller profile does not replace a larger one") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("host.json");
  REQUIRE(write_cached(path, whole_profile(), kNow).has_value());
  HostProfile brief = whole_profile();
  brief.form = "brief";
  REQUIRE(write_cached(path, brief, kNow).has_value());
  CHECK(read_cached(path, "b007", kNow)->form == "quick");
  HostProfile full = whole_profile();
  full.form = "full";
  REQUIRE(write_cached(path, full, kNow).has_value());
  CHECK(read_cached(path, "b007", kNow)->form == "full");
  brief.boot_id = "next";
  REQUIRE(write_cached(path, brief, kNow).has_value());
  CHECK(read_cached(path, "next", kNow)->form == "brief");
}

TEST_CASE("a file that is damaged, no file, or another's is not believed") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("host.json");
  test::write_contents(path, "{\"measurements\": [{");
  CHECK_FALSE(read_cached(path, "b007", kNow));
  test::write_contents(directory.path("real"), "{}");
  REQUIRE(write_cached(directory.path("real"), whole_profile(), kNow).has_value());
  REQUIRE(symlink(directory.path("real").c_str(), directory.path("link").c_str()) == 0);
  CHECK(read_cached(directory.path("real"), "b007", kNow).has_value());
  CHECK_FALSE(read_cached(directory.path("link"), "b007", kNow));
  CHECK_FALSE(read_cached(directory.path(), "b007", kNow));
  if (geteuid() == 0) {
    REQUIRE(chown(directory.path("real").c_str(), 65534, 65534) == 0);
    CHECK_FALSE(read_cached(directory.path("real"), "b007", kNow));
  }
}

TEST_CASE("a place that cannot be written is an error, and leaves nothing behind") {
  const test::TemporaryDirectory directory;
  test::write_contents(directory.path("file"), "x");
  const auto written = write_cached(directory.path("file/host.json"), whole_profile(), kNow);
  REQUIRE_FALSE(written.has_value());
  CHECK(written.error().text().contains("host.json"));
  CHECK_FALSE(write_cached("", whole_profile(), kNow).has_value());
}

}  // namespace
}  // namespace sojourn::host
