// The list of recorded processes: finding them, informing observers, adding up CPU time.
#include "userspace/capture/processes/traced_processes.h"

#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/support/child.h"
#include "userspace/capture/processes/process_news.h"

namespace sojourn::capture {
namespace {

Subject subject(const test::Child& child) {
  auto process = tracee::Process::open(child.pid());
  REQUIRE(process);
  return {.process = std::move(*process), .points = {}};
}

struct Heard final : ProcessObserver {
  explicit Heard(std::string of) : name(std::move(of)) {}
  Result<void> on_joined(const TracedProcess& process) override {
    heard.push_back("joined " + std::to_string(process.process.pid()));
    return fails ? Result<void>(fail("{} fails", name)) : Result<void>();
  }
  void on_ended(const TracedProcess& process) override {
    heard.push_back("ended " + std::to_string(process.process.pid()));
  }

  std::string name;
  bool fails = false;
  std::vector<std::string> heard;
};

TEST_CASE("a process is found by its pid until it has ended") {
  const test::Child one({"sleep", "60"});
  const test::Child other({"sleep", "60"});
  TracedProcesses processes;
  TracedProcess& first = processes.add(subject(one));
  processes.add(subject(other));
  CHECK(processes.find(one.pid()) == &first);
  CHECK(&processes.first() == &first);
  CHECK(processes.alive() == 2);
  processes.end(first);
  CHECK(first.phase == TracedProcess::Phase::kEnded);
  CHECK(processes.find(one.pid()) == nullptr);
  CHECK(processes.any_alive());
  processes.end(*processes.find(other.pid()));
  CHECK_FALSE(processes.any_alive());
  CHECK(processes.all().size() == 2);  // sources may still refer to them
}

TEST_CASE(
    "observers are called when processes join and end, and the first that fails stops the "
    "joining") {
  const test::Child child({"sleep", "60"});
  const std::string pid = std::to_string(child.pid());
  TracedProcesses processes;
  Heard one("one");
  Heard other("other");
  processes.observe(one);
  processes.observe(other);
  TracedProcess& process = processes.add(subject(child));
  CHECK(processes.tell_joined(process));
  processes.end(process);
  CHECK(one.heard == std::vector<std::string>{"joined " + pid, "ended " + pid});
  CHECK(other.heard == one.heard);
  one.fails = true;
  const auto joined = processes.tell_joined(process);
  REQUIRE_FALSE(joined);
  CHECK(joined.error().text() == "one fails");
  CHECK(other.heard.size() == 2);
}

TEST_CASE("the CPU time of a process counts on when it is forgotten") {
  const test::Child child({"sleep", "60"});
  TracedProcesses processes;
  TracedProcess& process = processes.add(subject(child));
  processes.end(process);
  process.cpu_first_ns = 100;
  process.cpu_last_ns = 350;
  CHECK(processes.cpu_ns() == 250);
  processes.forget_if([](const TracedProcess& one) { return one.has_ended(); });
  CHECK(processes.all().empty());
  CHECK(processes.cpu_ns() == 250);
}

TEST_CASE("a process is loading as long as its rings may come") {
  const test::Child child({"sleep", "60"});
  TracedProcess process(subject(child));
  CHECK_FALSE(process.is_loading());
  process.expect_rings(true);
  CHECK(process.is_loading());
  CHECK_FALSE(process.has_ended());
  process.expect_rings(false);
  CHECK(process.phase == TracedProcess::Phase::kRecorded);
  process.phase = TracedProcess::Phase::kRetired;
  CHECK(process.has_ended());
}

TEST_CASE("processes that come and go are reported forty times, and brief ones once") {
  std::vector<std::string> said;
  const Listener listener{.progress = {},
                          .say = [&](const std::string& line) { said.push_back(line); }};
  ProcessNews news;
  for (int time = 0; time < 100; ++time) news.say(listener, "one came");
  REQUIRE(said.size() == 41);
  CHECK(said[39] == "one came");
  CHECK(said[40].contains("not reported here"));
  news.say_brief(listener, 7);
  news.say_brief(listener, 8);
  REQUIRE(said.size() == 42);
  CHECK(said.back().contains("process 7"));
}

}  // namespace
}  // namespace sojourn::capture
