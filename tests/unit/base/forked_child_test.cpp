// Work in a child process, and the error if it gives no answer.
#include "userspace/base/forked_child.h"

#include <chrono>
#include <csignal>

#include <catch2/catch_test_macros.hpp>
#include <unistd.h>

namespace sojourn::base {
namespace {

using std::chrono::milliseconds;

TEST_CASE(
    "a child that exceeds its time is reported as that, and not by the signal that ended it") {
  const auto answer = run_in_child<int>(
      [] {
        pause();
        return Result<int>(1);
      },
      milliseconds(50));
  REQUIRE_FALSE(answer);
  CHECK(answer.error().text() == "it was not done after 0.05 s");
}

TEST_CASE("a child that is killed before its time is reported by the signal") {
  const auto answer = run_in_child<int>([] {
    raise(SIGKILL);
    return Result<int>(1);
  });
  REQUIRE_FALSE(answer);
  CHECK(answer.error().text() == "it was killed by SIGKILL");
}

}  // namespace
}  // namespace sojourn::base
