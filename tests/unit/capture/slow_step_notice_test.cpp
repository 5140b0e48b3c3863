// The messages about a capture that takes long to begin.
#include "userspace/cli/live/record/slow_step_notice.h"

#include <chrono>
#include <string>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <fcntl.h>
#include <unistd.h>

#include "tests/support/child.h"

namespace sojourn::cli {
namespace {

using std::chrono::milliseconds;

// Returns the text on stderr while the step lasts.
std::string told(milliseconds patience, milliseconds lasts, bool is_quiet) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("stderr");
  const int before = dup(STDERR_FILENO);
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  REQUIRE(dup2(file, STDERR_FILENO) == STDERR_FILENO);
  {
    const SlowStepNotice step("looking", is_quiet, patience);
    std::this_thread::sleep_for(lasts);
  }
  dup2(before, STDERR_FILENO);
  close(before);
  close(file);
  return test::contents(path);
}

TEST_CASE("a step that takes longer than the limit is reported, and its duration") {
  const std::string words = told(milliseconds(50), milliseconds(1500), false);
  CHECK(words.starts_with("still looking\nlooking took 1."));
  CHECK(words.ends_with(" s\n"));
}

TEST_CASE("a short step is not reported, and no step in quiet mode") {
  CHECK(told(std::chrono::hours(1), milliseconds(0), false).empty());
  CHECK(told(milliseconds(10), milliseconds(300), true).empty());
}

}  // namespace
}  // namespace sojourn::cli
