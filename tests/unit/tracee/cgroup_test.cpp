// A control group as a set of processes, from lists in plain files.
#include "userspace/tracee/cgroup.h"

#include <filesystem>

#include <catch2/catch_test_macros.hpp>

#include "tests/support/child.h"

namespace sojourn::tracee {
namespace {

TEST_CASE("a group has the processes of its own list and of all lists below, each once") {
  const test::TemporaryDirectory directory;
  std::filesystem::create_directories(directory.path("one/two"));
  std::filesystem::create_directories(directory.path("without"));
  test::write_contents(directory.path("cgroup.procs"), "34\n12\n");
  test::write_contents(directory.path("one/cgroup.procs"), "34\n0\n");  // 0: of another namespace
  test::write_contents(directory.path("one/two/cgroup.procs"), "7\nwords\n");
  const auto group = Cgroup::open(directory.path() + "/");
  REQUIRE(group);
  const auto pids = group->processes();
  REQUIRE(pids);
  CHECK(*pids == std::vector<pid_t>{7, 12, 34});

  std::filesystem::remove(directory.path("cgroup.procs"));
  REQUIRE_FALSE(group->processes());
  CHECK(group->processes().error().text().ends_with("is gone"));
}

TEST_CASE("an invalid group is distinguished from a missing one") {
  const test::TemporaryDirectory directory;
  const auto plain = Cgroup::open(directory.path());
  REQUIRE_FALSE(plain);
  CHECK(plain.error().text() == directory.path() + " is no cgroup: it has no cgroup.procs");
  for (const char* path : {"", "/", "no/such/group", "/no/such/group"}) {
    const auto none = Cgroup::open(path);
    CAPTURE(path);
    CHECK_FALSE(none);
  }
}

}  // namespace
}  // namespace sojourn::tracee
