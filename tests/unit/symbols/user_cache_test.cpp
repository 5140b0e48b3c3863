// The files that are kept between runs, and the users whose files are accepted.
#include "userspace/symbols/user_cache.h"

#include <filesystem>

#include <catch2/catch_test_macros.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/child.h"

namespace sojourn::symbols {
namespace {

namespace fs = std::filesystem;

struct Kept {
  test::TemporaryDirectory directory;
  std::string base = directory.path("cache");
  std::string room = base + "/sojourn/functions";
  std::string file = room + "/id";

  std::optional<UserCache> open() const { return UserCache::open_below(base, "functions"); }
  UserCache with(std::string_view text) const {
    auto cache = open();
    REQUIRE(cache);
    REQUIRE(cache->store("id", text));
    return std::move(*cache);
  }
};

TEST_CASE("kept files come back, and so do their replacements") {
  const Kept kept;
  const UserCache cache = kept.with("one");
  CHECK(cache.load("id") == "one");
  REQUIRE(cache.store("id", std::string(100'000, 'y')));
  CHECK(kept.open()->load("id") == std::string(100'000, 'y'));
  CHECK_FALSE(cache.load("other"));
  struct stat about{};
  REQUIRE(stat(kept.file.c_str(), &about) == 0);
  CHECK((about.st_mode & 0777) == 0600);
  REQUIRE(stat(kept.room.c_str(), &about) == 0);
  CHECK((about.st_mode & 0777) == 0700);
  CHECK(std::distance(fs::directory_iterator(kept.room), fs::directory_iterator()) == 1);
}

TEST_CASE("a file that was damaged anywhere is ignored") {
  const Kept kept;
  const UserCache cache = kept.with("some answers");
  const std::string whole = test::contents(kept.file);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    test::write_contents(kept.file, damaged);
    REQUIRE_FALSE(cache.load("id"));
    test::write_contents(kept.file, whole.substr(0, at));
    REQUIRE_FALSE(cache.load("id"));
  }
  test::write_contents(kept.file, whole);
  CHECK(cache.load("id") == "some answers");
}

TEST_CASE("a file that others can reach, or that is a link, is ignored") {
  const Kept kept;
  const UserCache cache = kept.with("text");
  REQUIRE(chmod(kept.file.c_str(), 0644) == 0);
  CHECK_FALSE(cache.load("id"));
  REQUIRE(chmod(kept.file.c_str(), 0600) == 0);
  CHECK(cache.load("id"));
  fs::create_hard_link(kept.file, kept.directory.path("second"));
  CHECK_FALSE(cache.load("id"));
  fs::remove(kept.directory.path("second"));
  fs::rename(kept.file, kept.directory.path("elsewhere"));
  fs::create_symlink(kept.directory.path("elsewhere"), kept.file);
  CHECK_FALSE(cache.load("id"));
  // The link is replaced, not the file that it leads to.
  REQUIRE(cache.store("id", "new"));
  CHECK(cache.load("id") == "new");
  CHECK(test::contents(kept.directory.path("elsewhere")).ends_with("text"));
}

TEST_CASE("directories that others can write to, or that are links, are not used") {
  const Kept kept;
  kept.with("text");
  REQUIRE(chmod(kept.room.c_str(), 0770) == 0);
  CHECK_FALSE(kept.open());
  REQUIRE(chmod(kept.room.c_str(), 0700) == 0);
  REQUIRE(chmod(kept.base.c_str(), 0777) == 0);
  CHECK_FALSE(kept.open());
  REQUIRE(chmod(kept.base.c_str(), 0755) == 0);
  CHECK(kept.open());
  fs::rename(kept.room, kept.directory.path("elsewhere"));
  fs::create_symlink(kept.directory.path("elsewhere"), kept.room);
  CHECK_FALSE(kept.open());
}

TEST_CASE("root keeps nothing in a directory of somebody else") {
  if (geteuid() != 0) SKIP("needs root");
  const Kept kept;
  kept.with("text");
  REQUIRE(chown(kept.file.c_str(), 65534, 65534) == 0);
  CHECK_FALSE(kept.open()->load("id"));
  REQUIRE(chown(kept.room.c_str(), 65534, 65534) == 0);
  CHECK_FALSE(kept.open());
  REQUIRE(chown(kept.room.c_str(), 0, 0) == 0);
  REQUIRE(chown(kept.base.c_str(), 65534, 65534) == 0);
  CHECK_FALSE(kept.open());
}

TEST_CASE("the least recently used files go when there are many") {
  const Kept kept;
  const UserCache cache = kept.with("first");
  for (int number = 0; number < 100; ++number) {
    const std::string name = fmt::format("file{}", number);
    REQUIRE(cache.store(name, "x"));
    const timespec when[2] = {{.tv_sec = 1000 + number, .tv_nsec = 0},
                              {.tv_sec = 1000 + number, .tv_nsec = 0}};
    REQUIRE(utimensat(AT_FDCWD, (kept.room + "/" + name).c_str(), when, 0) == 0);
  }
  CHECK(std::distance(fs::directory_iterator(kept.room), fs::directory_iterator()) <= 64);
  CHECK(cache.load("id"));
  CHECK(cache.load("file99"));
  CHECK_FALSE(cache.load("file0"));
}

}  // namespace
}  // namespace sojourn::symbols
