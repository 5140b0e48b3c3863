// Readers of a running capture, by nc and by sojourn itself, and the treatment of bad readers.
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <nlohmann/json.hpp>
#include <sys/socket.h>

#include "analysis/trace/completeness.h"
#include "tests/live/recorder.h"
#include "tests/live/streamed.h"

namespace sojourn::live {
namespace {

using std::chrono::milliseconds;

TEST_CASE("nc reads a whole trace from a capture, from its connection on") {
  need_root();
  const std::string engine = GENERATE("bpf", "ring");
  CAPTURE(engine);
  Streamed streamed({"--engine", engine});
  test::Child first(streamed.nc("first.sjt"));
  wait_until_filled(streamed.file("first.sjt"), 200'000);  // more than what describes the trace
  test::Child second(streamed.nc("second.sjt"));
  wait_until_filled(streamed.file("second.sjt"));
  std::this_thread::sleep_for(milliseconds(500));
  streamed.stop();
  CHECK(first.wait().exit_code == 0);
  CHECK(second.wait().exit_code == 0);
  CHECK(streamed.said.contains("streamed to 2 readers\n"));

  check_whole(streamed.recorder.directory.path("run.sjt"));
  check_whole(streamed.file("first.sjt"));
  check_whole(streamed.file("second.sjt"));
  const trace::Reader earlier = open_trace(streamed.file("first.sjt"));
  const trace::Reader later = open_trace(streamed.file("second.sjt"));
  CHECK(earlier.capture().ended_by == "sojourn ctl");
  CHECK(earlier.capture().open_ns < later.capture().open_ns);
  CHECK(trace::completeness_of(earlier).is_whole());
  CHECK(trace::completeness_of(later).is_whole());
  CHECK(earlier.events() > later.events());
  CHECK(open_trace(streamed.recorder.directory.path("run.sjt")).events() >= earlier.events());
}

TEST_CASE("a flight recorder, which writes no file, is streamed as well") {
  need_root();
  Streamed streamed({"--flight", "1s"});
  test::Child reader(streamed.nc("read.sjt"));
  wait_until_filled(streamed.file("read.sjt"));
  std::this_thread::sleep_for(milliseconds(300));
  streamed.stop();
  CHECK(reader.wait().exit_code == 0);
  check_whole(streamed.file("read.sjt"));
  check_whole(streamed.recorder.directory.path("run.sjt"));
}

TEST_CASE("live follows a stream by its address") {
  need_root();
  Streamed streamed;
  test::Child view({SJ_SOJOURN, "live", streamed.address(), "--json", "-n", "3"});
  const test::Ended viewed = view.wait();
  CAPTURE(viewed.err);
  REQUIRE(viewed.exit_code == 0);
  std::istringstream lines(viewed.out);
  std::uint64_t newest = 0;
  std::size_t objects = 0;
  for (std::string line; std::getline(lines, line); ++objects) {
    const auto figures = nlohmann::json::parse(line);
    newest = figures["events"].get<std::uint64_t>();
  }
  CHECK(objects == 3);
  CHECK(newest > 1000);
  streamed.stop();
}

TEST_CASE("live ends with its stream, also on standard input") {
  need_root();
  Streamed streamed;
  test::Child by_address({SJ_SOJOURN, "live", streamed.address(), "--json"});
  test::Child by_pipe(
      {"sh", "-c",
       "nc -U " + quoted(streamed.path()) + " </dev/null | '" SJ_SOJOURN "' live - --json"});
  REQUIRE(by_address.wait_for_output("\n"));
  REQUIRE(by_pipe.wait_for_output("\n"));
  streamed.stop();
  for (test::Child* const view : {&by_address, &by_pipe}) {
    const test::Ended viewed = view->wait();
    CAPTURE(viewed.err);
    CHECK(viewed.exit_code == 0);
    CHECK(viewed.out.contains("\"ended\":true"));
  }
}

TEST_CASE("commands read a stream by its address") {
  need_root();
  Streamed streamed;
  test::Child report({SJ_SOJOURN, "report", streamed.address(), "--json"});
  test::Child check({SJ_SOJOURN, "check", streamed.address()});
  test::Child events(
      {"sh", "-c",
       std::string(SJ_SOJOURN) + " events " + quoted(streamed.address()) + " & echo; wait"});
  REQUIRE(events.wait_for_output("\n"));
  std::this_thread::sleep_for(milliseconds(2500));
  report.signal(SIGINT);  // ends the reading, not the report
  const test::Ended reported = report.wait();
  CAPTURE(reported.err);
  CHECK(reported.exit_code == 0);
  CHECK(reported.out.contains("\"events\""));
  streamed.stop();
  const test::Ended checked = check.wait();
  CHECK(checked.exit_code == 0);
  CHECK(checked.out.contains("ended by sojourn ctl"));
  CHECK(checked.out.contains("whole, and nothing was lost"));
  CHECK(events.wait().exit_code == 0);
}

TEST_CASE("readers that are dead, killed, stopped or loud lose only their own events") {
  need_root();
  Streamed streamed;
  const base::Fd dead = streamed.connect();  // takes nothing, ever
  test::Child good(streamed.nc("good.sjt"));
  test::Child killed(streamed.nc("killed.sjt"));
  test::Child stopped(streamed.nc("stopped.sjt"));
  test::Child loud({"sh", "-c",
                    "head -c 10000000 /dev/urandom | nc -U " + quoted(streamed.path()) +
                        " > /dev/null; exit 0"});
  wait_until_filled(streamed.file("good.sjt"));
  wait_until_filled(streamed.file("killed.sjt"), 200'000);  // more than what describes it
  wait_until_filled(streamed.file("stopped.sjt"));
  stopped.signal(SIGSTOP);
  killed.signal(SIGKILL);
  CHECK(killed.wait().exit_code == -1);
  CHECK(loud.wait().exit_code == 0);
  std::this_thread::sleep_for(milliseconds(1200));
  stopped.signal(SIGCONT);
  std::this_thread::sleep_for(milliseconds(300));
  streamed.stop();
  CHECK(good.wait().exit_code == 0);
  CHECK(stopped.wait().exit_code == 0);
  check_whole(streamed.recorder.directory.path("run.sjt"));
  check_whole(streamed.file("good.sjt"));
  check_whole(streamed.file("stopped.sjt"));
  const trace::Reader cut = open_trace(streamed.file("killed.sjt"));
  CHECK(cut.events() > 0);
  CHECK(cut.capture().close_ns == 0);
}

TEST_CASE("a hundred readers at once get whole traces, and one too many is turned away") {
  need_root();
  Streamed streamed;
  std::vector<base::Fd> idle;
  for (int reader = 0; reader < 127; ++reader) idle.push_back(streamed.connect());
  test::Child last(streamed.nc("last.sjt"));
  wait_until_filled(streamed.file("last.sjt"));
  CHECK(test::run(streamed.nc("refused.sjt")).exit_code == 0);
  CHECK(std::filesystem::file_size(streamed.file("refused.sjt")) == 0);
  idle.clear();
  std::vector<std::optional<test::Child>> readers(100);
  std::this_thread::sleep_for(milliseconds(1500));  // until they are seen to be gone
  for (std::size_t reader = 0; reader < readers.size(); ++reader)
    readers[reader].emplace(streamed.nc(std::to_string(reader)));
  wait_until_filled(streamed.file("99"));
  std::this_thread::sleep_for(milliseconds(1500));
  streamed.stop();
  for (std::size_t reader = 0; reader < readers.size(); ++reader) {
    CHECK(readers[reader]->wait().exit_code == 0);
    const trace::Reader trace = open_trace(streamed.file(std::to_string(reader)));
    CHECK(trace.events() > 0);
    CHECK(trace::completeness_of(trace).is_whole());
  }
  check_whole(streamed.file("last.sjt"));
}

TEST_CASE("a stream can be read up to the end of a capture that was killed") {
  need_root();
  Streamed streamed;
  test::Child reader(streamed.nc("read.sjt"));
  wait_until_filled(streamed.file("read.sjt"));
  streamed.recorder.capture->signal(SIGKILL);
  CHECK(reader.wait().exit_code == 0);
  const test::Ended checked = sojourn({"check", streamed.file("read.sjt")});
  CHECK(checked.exit_code == 0);
  CHECK(checked.out.contains("the capture did not end in order"));
}

TEST_CASE("a capture streams to readers that listen already, or does not begin") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("stream");
  const test::Ended refused =
      sojourn({"record", "-p", "1", "-o", directory.path("run.sjt"), "--stream", "unix:" + path});
  CHECK(refused.exit_code != 0);
  test::Child listener(
      {"sh", "-c",
       "exec nc -lU " + quoted(path) + " > " + quoted(directory.path("read.sjt")) + " </dev/null"});
  while (!std::filesystem::exists(path)) std::this_thread::sleep_for(milliseconds(10));
  Recorder recorder({"--stream", "unix:" + path});
  std::this_thread::sleep_for(milliseconds(500));
  CHECK(recorder.ctl("stop").exit_code == 0);
  CHECK(recorder.capture->wait().exit_code == 0);
  CHECK(listener.wait().exit_code == 0);
  check_whole(directory.path("read.sjt"));
  CHECK(open_trace(directory.path("read.sjt")).events() ==
        open_trace(recorder.directory.path("run.sjt")).events());
}

}  // namespace
}  // namespace sojourn::live
