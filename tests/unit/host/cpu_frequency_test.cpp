// Frequencies that are set for a while, on a machine of files. They are restored however the
// process that set them ends.
#include "userspace/host/cpu_frequency.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/sys_tree.h"

namespace sojourn::host {
namespace {

using test::SysTree;

std::string limits_of(const SysTree& sys, unsigned policy) {
  const std::string folder = SysTree::policy_of(policy);
  return sys.text(folder + "scaling_min_freq") + " " + sys.text(folder + "scaling_max_freq");
}

// Two kinds of cores; the second is limited to less than its maximum.
SysTree& fill(SysTree& sys) {
  sys.policy(0, 800'000, 3'500'000).policy(4, 400'000, 2'400'000);
  return sys.file(SysTree::policy_of(4) + "scaling_max_freq", "2000000");
}

// The keeper needs a moment.
void wait_for_limits(const SysTree& sys, unsigned policy, const std::string& wanted) {
  for (int times = 0; times < 1000 && limits_of(sys, policy) != wanted; ++times)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(limits_of(sys, policy) == wanted);
}

TEST_CASE("a frequency is set for all CPUs and set back") {
  SysTree sys;
  fill(sys);
  auto setting = FrequencySetting::begin(sys.path());
  REQUIRE(setting);
  CHECK(setting->slowest_khz() == 800'000);    // the least that both kinds support
  CHECK(setting->fastest_khz() == 2'400'000);  // also where it was forbidden before
  CHECK(limits_of(sys, 0) == "800000 3500000");
  for (const std::uint64_t khz : {2'400'000U, 800'000U, 1'200'000U}) {
    REQUIRE(setting->set(khz));
    const std::string one = std::to_string(khz);
    CHECK(limits_of(sys, 0) == one + " " + one);
    CHECK(limits_of(sys, 4) == one + " " + one);
  }
  REQUIRE(setting->restore());
  CHECK(limits_of(sys, 0) == "800000 3500000");
  CHECK(limits_of(sys, 4) == "400000 2000000");
  CHECK(setting->restore());  // once is enough
}

TEST_CASE("going out of scope sets it back") {
  SysTree sys;
  fill(sys);
  {
    auto setting = FrequencySetting::begin(sys.path());
    REQUIRE(setting);
    REQUIRE(setting->set(1'000'000));
  }
  CHECK(limits_of(sys, 0) == "800000 3500000");
}

TEST_CASE("a killed process leaves the previous settings") {
  for (const int signal : {SIGTERM, SIGKILL}) {
    CAPTURE(signal);
    SysTree sys;
    fill(sys);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      std::signal(SIGTERM, SIG_DFL);  // the test program has a handler of its own
      const int nothing = open("/dev/null", O_RDWR);
      for (const int fd : {0, 1, 2}) dup2(nothing, fd);
      auto setting = FrequencySetting::begin(sys.path());
      if (!setting || !setting->set(1'000'000)) _exit(1);
      while (true) pause();
    }
    wait_for_limits(sys, 4, "1000000 1000000");
    kill(child, signal);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    wait_for_limits(sys, 0, "800000 3500000");
    wait_for_limits(sys, 4, "400000 2000000");
  }
}

TEST_CASE("a machine without frequencies, or without limits, is refused before anything changes") {
  const SysTree none;
  const auto absent = FrequencySetting::begin(none.path());
  REQUIRE_FALSE(absent);
  CHECK(absent.error().text().contains("has no policies"));
  SysTree broken;
  broken.policy(0, 800'000, 3'500'000);
  broken.file(SysTree::policy_of(0) + "cpuinfo_min_freq", "<unknown>");
  const auto unknown = FrequencySetting::begin(broken.path());
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().text().contains("'<unknown>' is no frequency"));
  CHECK(limits_of(broken, 0) == "800000 3500000");
}

TEST_CASE("a frequency that cannot be restored is an error") {
  SysTree sys;
  sys.policy(0, 800'000, 3'500'000);
  auto setting = FrequencySetting::begin(sys.path());
  REQUIRE(setting);
  std::filesystem::remove_all(sys.path(SysTree::policy_of(0)));
  CHECK_FALSE(setting->restore());
}

}  // namespace
}  // namespace sojourn::host
