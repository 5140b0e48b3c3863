// Files that measuring needs: bounded, nameless, and proven to be in the cache or not.
#include "userspace/host/scratch_file.h"

#include <filesystem>

#include <catch2/catch_test_macros.hpp>
#include <unistd.h>

#include "tests/support/child.h"

namespace sojourn::host {
namespace {

TEST_CASE("a scratch file has no name while it is there") {
  const test::TemporaryDirectory directory;
  const auto file = ScratchFile::make(directory.path(), 1 << 20);
  REQUIRE(file.has_value());
  CHECK(std::filesystem::is_empty(directory.path()));
  CHECK(lseek(file->fd(), 0, SEEK_END) == 1 << 20);
}

TEST_CASE("a file of more than a tenth of the free space is refused") {
  const test::TemporaryDirectory directory;
  const auto file = ScratchFile::make(directory.path(), std::size_t{1} << 50);
  REQUIRE_FALSE(file.has_value());
  CHECK(file.error().text().contains("more than a tenth"));
  CHECK(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("a path that is not a directory is refused with its name") {
  const auto file = ScratchFile::make("/nowhere/at/all", 4096);
  REQUIRE_FALSE(file.has_value());
  CHECK(file.error().text() == "look at /nowhere/at/all: No such file or directory");
}

TEST_CASE("data that was just written is cached, and the remainder after dropping it is reported") {
  const test::TemporaryDirectory directory;
  const auto file = ScratchFile::make(directory.path(), 1 << 20);
  REQUIRE(file.has_value());
  CHECK(file->cached_share() == 1);
  const double stayed = file->drop_from_cache();
  CHECK(stayed >= 0);
  CHECK(stayed == file->cached_share());
}

}  // namespace
}  // namespace sojourn::host
