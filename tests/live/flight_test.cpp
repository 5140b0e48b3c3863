// The flight recorder and `sojourn ctl` on a running capture.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <unistd.h>

#include "tests/live/recorder.h"

namespace sojourn::live {
namespace {

using std::chrono::milliseconds;

TEST_CASE(
    "the events that a flight recorder holds are dumped on request, repeatedly, and at its end") {
  need_root();
  const std::string engine = GENERATE("bpf", "ring");
  CAPTURE(engine);
  Recorder recorder({"--engine", engine, "--budget", "none", "--flight", "10s"});
  std::this_thread::sleep_for(milliseconds(500));
  CHECK_FALSE(std::filesystem::exists(recorder.directory.path("run.sjt.partial")));
  const test::Ended first = recorder.ctl("dump");
  CAPTURE(first.err);
  CHECK(first.exit_code == 0);
  CHECK(first.out.contains("run-1.sjt"));
  check_whole(recorder.directory.path("run-1.sjt"));

  std::this_thread::sleep_for(milliseconds(300));
  kill(recorder.capture->pid(), SIGUSR1);
  CHECK(recorder.capture->wait_for_output("run-2.sjt"));
  check_whole(recorder.directory.path("run-2.sjt"));
  CHECK(open_trace(recorder.directory.path("run-2.sjt")).events() >
        open_trace(recorder.directory.path("run-1.sjt")).events());

  CHECK(recorder.ctl("stop").exit_code == 0);
  CHECK(recorder.capture->wait().exit_code == 0);
  check_whole(recorder.directory.path("run.sjt"));
  CHECK(open_trace(recorder.directory.path("run.sjt")).capture().ended_by == "sojourn ctl");
}

TEST_CASE("a dump contains the requested aftermath") {
  need_root();
  Recorder recorder({"--flight", "100ev", "--after", "600ms"});
  std::this_thread::sleep_for(milliseconds(300));
  const std::uint64_t asked_ns = static_cast<std::uint64_t>(
      std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
  REQUIRE(recorder.ctl("dump").exit_code == 0);
  const model::Capture about = open_trace(recorder.directory.path("run-1.sjt")).capture();
  CHECK(about.close_ns >= asked_ns + 600'000'000);
  CHECK(about.open_ns <= asked_ns);  // however many events came since
}

TEST_CASE("a capture that waits records nothing before it is started") {
  need_root();
  Recorder recorder({"--wait"});
  std::this_thread::sleep_for(milliseconds(300));
  const std::uint64_t started_ns = static_cast<std::uint64_t>(
      std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
  CHECK(recorder.ctl("start").exit_code == 0);
  const test::Ended again = recorder.ctl("start");
  CHECK(again.exit_code == 1);
  CHECK(again.err.contains("running already"));
  std::this_thread::sleep_for(milliseconds(300));
  CHECK(recorder.ctl("flush").exit_code == 0);
  CHECK(recorder.ctl("status").out.contains("events"));
  CHECK(recorder.ctl("stop").exit_code == 0);
  CHECK(recorder.capture->wait().exit_code == 0);
  const std::string trace = recorder.directory.path("run.sjt");
  check_whole(trace);
  CHECK(open_trace(trace).capture().open_ns >= started_ns);
}

TEST_CASE("a capture that is stopped before it was started leaves no trace") {
  need_root();
  Recorder recorder({"--wait"});
  CHECK(recorder.ctl("stop").exit_code == 0);
  CHECK(recorder.capture->wait().exit_code == 1);
  CHECK(std::filesystem::is_empty(recorder.directory.path("")));
}

// The number of the subject's round that each event of a point carries.

TEST_CASE("ctl reports requests that are not possible") {
  need_root();
  Recorder recorder({"--for", "20s"});
  const test::Ended dump = recorder.ctl("dump");
  CHECK(dump.exit_code == 1);
  CHECK(dump.err.contains("--flight"));
  const test::Ended nobody = sojourn({"ctl", "-p", std::to_string(getpid()), "stop"});
  CHECK(nobody.exit_code == 1);
  CHECK(nobody.err.contains("nothing records process"));
}

TEST_CASE("an ordinary user has no say in root's capture") {
  need_root();
  Recorder recorder({"--for", "20s"});
  const test::Ended ended =
      test::run({"setpriv", "--reuid", "65534", "--clear-groups", SJ_SOJOURN, "ctl", "-p",
                 std::to_string(recorder.subject.pid()), "stop"});
  CHECK(ended.exit_code == 1);
  CHECK(recorder.capture->running());
}

}  // namespace
}  // namespace sojourn::live
