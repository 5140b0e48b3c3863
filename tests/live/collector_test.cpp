// The CPU and priority of the collector, which the programs that it starts do not have.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <catch2/catch_test_macros.hpp>
#include <sched.h>
#include <sys/resource.h>

#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

bool runs_only_on_first_cpu(pid_t pid) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  REQUIRE(sched_getaffinity(pid, sizeof(cpus), &cpus) == 0);
  return CPU_COUNT(&cpus) == 1 && CPU_ISSET(0, &cpus);
}

int nice_of(pid_t pid) {
  return getpriority(PRIO_PROCESS, static_cast<id_t>(pid));
}

std::vector<std::string> record(const std::string& trace, std::vector<std::string> options) {
  std::string line = "exec '" SJ_SOJOURN "' record -o '" + trace + "'";
  for (const std::string& option : options) line += " '" + option + "'";
  return {"sh", "-c", line + " 2>&1"};
}

TEST_CASE("every thread of the collector has the CPU and the priority that were requested") {
  need_root();
  const test::TemporaryDirectory directory;
  test::Child subject({SJ_SUBJECT_LINKED, "1000000"});
  REQUIRE(subject.wait_for_output("ready"));
  test::Child capture(
      record(directory.path("run.sjt"), {"-p", std::to_string(subject.pid()), "--collector-cpu",
                                         "0", "--collector-priority", "rt:7"}));
  REQUIRE(capture.wait_for_output("attached"));
  std::size_t threads = 0;
  for (const auto& task :
       std::filesystem::directory_iterator("/proc/" + std::to_string(capture.pid()) + "/task")) {
    const pid_t tid = std::stoi(task.path().filename());
    CHECK(sched_getscheduler(tid) == SCHED_FIFO);
    CHECK(runs_only_on_first_cpu(tid));
    ++threads;
  }
  CHECK(threads >= 2);
  CHECK(sched_getscheduler(subject.pid()) == SCHED_OTHER);
  CHECK_FALSE(runs_only_on_first_cpu(subject.pid()));
}

TEST_CASE("by default the collector lets others go first, but not the command that it starts") {
  need_root();
  const test::TemporaryDirectory directory;
  test::Child capture(
      record(directory.path("run.sjt"), {"--budget", "none", "--", SJ_SUBJECT_LINKED, "1000000"}));
  REQUIRE(capture.wait_for_output("attached"));
  CHECK(nice_of(capture.pid()) == std::max(nice_of(0), 5));
  const std::string self = std::to_string(capture.pid());
  std::ifstream children("/proc/" + self + "/task/" + self + "/children");
  pid_t command = 0;
  REQUIRE(children >> command);
  CHECK(nice_of(command) == nice_of(0));
  kill(command, SIGTERM);
  CHECK(capture.wait().exit_code == 0);
}

TEST_CASE("a collector that cannot have the requested CPU or priority reports that") {
  need_root();
  const test::TemporaryDirectory directory;
  const test::Ended nowhere =
      sojourn({"record", "-p", "1", "-o", directory.path("run.sjt"), "--collector-cpu", "1000"});
  CHECK(nowhere.exit_code == 1);
  CHECK(nowhere.err.contains("--collector-cpu 1000"));
  const test::Ended how = sojourn(
      {"record", "-p", "1", "-o", directory.path("run.sjt"), "--collector-priority", "urgent"});
  CHECK(how.exit_code == 2);
  CHECK(std::filesystem::is_empty(directory.path()));
}

}  // namespace
}  // namespace sojourn::live
