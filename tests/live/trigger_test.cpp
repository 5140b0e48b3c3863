// The actions of a capture's triggers.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <unistd.h>

#include "tests/live/recorder.h"
#include "userspace/cli/units.h"

namespace sojourn::live {
namespace {

using std::chrono::milliseconds;

// Returns a point's state in `ctl status`: "on" or "off".
std::string switch_of(const std::string& point, const std::string& status) {
  const std::size_t at = status.find(point);
  REQUIRE(at != std::string::npos);
  std::istringstream words(status.substr(at + point.size()));
  std::string word;
  words >> word;
  return word;
}

TEST_CASE("a dump has the events before the trigger, and the requested aftermath") {
  need_root();
  Recorder recorder({"--flight", "10s", "--after", "100ms", "--trigger",
                     "point == library.in--library.out && number % 1000 == 999", "--dumps", "2"});
  REQUIRE(recorder.capture->wait_for_output("run-1.sjt"));
  REQUIRE(recorder.capture->wait_for_output("run-2.sjt"));
  CHECK(recorder.capture->wait_for_output("no more of them"));
  const auto first = numbers(recorder.directory.path("run-1.sjt"), "library.in--library.out");
  const auto fired = std::ranges::find_if(first, [](auto n) { return n % 1000 == 999; });
  REQUIRE(fired != first.end());
  CHECK(first.end() - fired > 50);  // a round each half a millisecond
  check_whole(recorder.directory.path("run-1.sjt"));
  CHECK(recorder.ctl("stop").exit_code == 0);
  CHECK(recorder.capture->wait().exit_code == 0);
  CHECK_FALSE(std::filesystem::exists(recorder.directory.path("run.sjt")));
}

TEST_CASE("a trigger's event is in its dump, however short the history and rare the looks") {
  need_root();
  Recorder recorder({"--engine", "ring", "--flight", "10ev", "--poll", "200ms", "--trigger",
                     "point == library.in--library.out && number % 1000 == 300", "--dumps", "2"});
  for (const std::string name : {"run-1.sjt", "run-2.sjt"}) {
    REQUIRE(recorder.capture->wait_for_output(name));
    const std::string path = recorder.directory.path(name);
    check_whole(path);
    const auto all = numbers(path, "library.in--library.out");
    CHECK(std::ranges::any_of(all, [](auto n) { return n % 1000 == 300; }));
    const model::Capture about = open_trace(path).capture();
    CHECK(about.open_ns < about.close_ns);
  }
}

TEST_CASE("a trigger's time counts from the capture's open mark") {
  need_root();
  Recorder recorder({"--flight", "10s", "--trigger", "time > 700ms", "--dumps", "1"});
  REQUIRE(recorder.capture->wait_for_output("run-1.sjt"));
  const model::Capture about = open_trace(recorder.directory.path("run-1.sjt")).capture();
  CHECK(about.close_ns - about.open_ns >= 700'000'000);
}

TEST_CASE("a trigger on journeys dumps the one that was slow, whole") {
  need_root();
  const test::TemporaryDirectory directory;
  Station station({"--sleep-stage", "mac:30000:100"});
  const std::string slow = "dir == D && complete && latency > 20ms";
  test::Child capture({"sh", "-c",
                       "exec '" SJ_SOJOURN "' record -p " + std::to_string(station.pid()) +
                           " -o '" + directory.path("run.sjt") +
                           "' --flight 5s --ring-size 1M --after 200ms --dumps 1 --trigger '" +
                           slow + "' 2>&1"});
  CHECK(capture.wait_for_output("run-1.sjt"));
  capture.signal(SIGINT);
  CHECK(capture.wait().exit_code == 0);
  const test::Ended found =
      sojourn({"journeys", directory.path("run-1.sjt"), "--where", slow, "--limit", "1"});
  CHECK(found.exit_code == 0);
  CHECK(found.out.contains("whole"));
}

TEST_CASE("a trigger on journeys that never are so does nothing") {
  need_root();
  const test::TemporaryDirectory directory;
  Station station;
  const test::Ended ended =
      sojourn({"record", "-p", std::to_string(station.pid()), "-o", directory.path("run.sjt"),
               "--flight", "5s", "--for", "2s", "--trigger", "latency > 60s"});
  CAPTURE(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(ended.err.contains("no dump"));
  CHECK(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("triggers start and stop a file") {
  need_root();
  Recorder recorder({"--flight", "200ev", "--trigger", "start: number % 1000 == 500", "--trigger",
                     "stop: number % 2000 == 1900"});
  REQUIRE(recorder.capture->wait_for_output("recording to"));
  const test::Ended ended = recorder.capture->wait();
  CHECK(ended.exit_code == 0);
  const std::string trace = recorder.directory.path("run.sjt");
  check_whole(trace);
  CHECK(open_trace(trace).capture().ended_by == "trigger");
  const auto all = numbers(trace, "linked.in--library.in");
  CHECK(std::ranges::any_of(all, [](auto n) { return n % 1000 == 500; }));
  CHECK(std::ranges::any_of(all, [](auto n) { return n % 2000 == 1900; }));
}

TEST_CASE("if triggers only stop or switch, the end of the capture is written as without them") {
  need_root();
  const std::string stop = "stop: point == library.in--library.out && number % 1000 == 700";
  Recorder recorder({"--flight", "10s", "--trigger", stop, "--trigger", "enable *: number == 1"});
  const test::Ended ended = recorder.capture->wait();
  CAPTURE(ended.out);
  CHECK(ended.exit_code == 0);
  const std::string trace = recorder.directory.path("run.sjt");
  REQUIRE(std::filesystem::exists(trace));
  check_whole(trace);
  CHECK(open_trace(trace).capture().ended_by == "trigger");
  const auto all = numbers(trace, "library.in--library.out");
  CHECK(std::ranges::any_of(all, [](auto n) { return n % 1000 == 700; }));
}

TEST_CASE("a trigger dumps when events are lost, and another one when the target is gone") {
  need_root();
  Recorder recorder({"--engine", "ring", "--flight", "10s", "--ring-size", "4K", "--poll", "1000ms",
                     "--trigger", "loss", "--trigger", "exit"});
  CHECK(recorder.capture->wait_for_output("run-1.sjt"));
  recorder.subject.signal(SIGKILL);
  CHECK(recorder.capture->wait().exit_code == 0);
  CHECK_FALSE(open_trace(recorder.directory.path("run-1.sjt")).ledger().empty());
  CHECK(open_trace(recorder.directory.path("run.sjt")).capture().ended_by == "target exit");
}

TEST_CASE("a trigger switches points on and off") {
  need_root();
  const std::string pattern = GENERATE("library.*", "D lib*");
  Recorder recorder(
      {"--flight", "10s", "--trigger", "disable " + pattern + ": number % 1000 == 500"});
  REQUIRE(recorder.capture->wait_for_output("switched 1 points off"));
  CHECK(recorder.ctl("status").out.contains("off"));
  CHECK(recorder.ctl("stop").exit_code == 0);
  CHECK(recorder.capture->wait().exit_code == 0);
  CHECK_FALSE(recorder.ctl("status").out.contains("off"));  // the next capture finds it as it was
}

TEST_CASE("switches by triggers are restored, and switches by ctl stay") {
  need_root();
  Recorder recorder({"--wait", "--flight", "10s", "--trigger", "enable library.*: number % 2 == 0",
                     "--trigger", "disable linked.*: number % 1000 == 500"});
  sojourn_done({"ctl", "-p", std::to_string(recorder.subject.pid()), "disable", "library.*"});
  CHECK(recorder.ctl("start").exit_code == 0);
  REQUIRE(recorder.capture->wait_for_output("switched 1 points on"));
  REQUIRE(recorder.capture->wait_for_output("switched 1 points off"));
  CHECK(recorder.ctl("stop").exit_code == 0);
  const test::Ended ended = recorder.capture->wait();
  CHECK(ended.exit_code == 0);
  CHECK_FALSE(ended.out.contains("never hit"));
  const std::string status = recorder.ctl("status").out;
  CHECK(switch_of("library.in--library.out", status) == "off");
  CHECK(switch_of("linked.in--library.in", status) == "on");
}

TEST_CASE("a trigger of a capture that leaves points out switches those that it has") {
  need_root();
  Recorder recorder(
      {"--flight", "10s", "--points", "library.*", "--trigger", "disable *: number % 1000 == 500"});
  REQUIRE(recorder.capture->wait_for_output("switched 1 points off"));
  const std::string status = recorder.ctl("status").out;
  CHECK(switch_of("library.in--library.out", status) == "off");
  CHECK(switch_of("linked.in--library.in", status) == "on");
  CHECK(recorder.ctl("stop").exit_code == 0);
  CHECK(recorder.capture->wait().exit_code == 0);
}

TEST_CASE("the last dump is reported with its own size") {
  need_root();
  Recorder recorder({"--flight", "10s", "--dumps", "1", "--trigger",
                     "point == library.in--library.out && number % 1000 == 999"});
  REQUIRE(recorder.capture->wait_for_output("run-1.sjt"));
  std::this_thread::sleep_for(milliseconds(300));  // more is held than was written
  CHECK(recorder.ctl("stop").exit_code == 0);
  const test::Ended ended = recorder.capture->wait();
  CAPTURE(ended.out);
  const std::string path = recorder.directory.path("run-1.sjt");
  CHECK(ended.out.contains(path + " " + cli::bytes(std::filesystem::file_size(path)) + " "));
}

TEST_CASE("a trigger on a queue's samples dumps at once, while sampling goes on") {
  need_root();
  const test::TemporaryDirectory directory;
  Station station;
  test::Child capture({"sh", "-c",
                       "exec '" SJ_SOJOURN "' record -p " + std::to_string(station.pid()) +
                           " -o '" + directory.path("run.sjt") +
                           "' --flight 5s --queues 1ms --ring-size 1M --trigger "
                           "'point == queue.sample && field(in) > 100' --dumps 1 --for 6s 2>&1"});
  CHECK(capture.wait_for_output("run-1.sjt"));
  CHECK(capture.running());
  capture.signal(SIGINT);
  CHECK(capture.wait().exit_code == 0);
  trace::Reader reader = open_trace(directory.path("run-1.sjt"));
  CHECK(reader.ledger().empty());
  CHECK(reader.capture().close_ns > reader.capture().open_ns);
  CHECK(reader.capture().close_ns - reader.capture().open_ns < 5'000'000'000);
  CHECK(reader.events() > 1000);
}

TEST_CASE("the aftermath of a stop by trigger can be given in events as well") {
  need_root();
  Recorder recorder({"--flight", "10s", "--after", "3000ev", "--trigger", "start: number > 10",
                     "--trigger", "stop: number % 1000 == 500"});
  CHECK(recorder.capture->wait().exit_code == 0);
  const auto all = numbers(recorder.directory.path("run.sjt"), "linked.in--library.in");
  const auto stop = std::ranges::find_if(all, [](auto n) { return n % 1000 == 500; });
  REQUIRE(stop != all.end());
  CHECK(all.end() - stop >= 1400);  // of two points, and the trigger is looked at a little later
}

TEST_CASE("a client that waits for a dump is answered when a trigger starts the file") {
  need_root();
  Recorder recorder(
      {"--flight", "10s", "--after", "60s", "--trigger", "start: number % 4000 == 3999"});
  const test::Ended dump = recorder.ctl("dump");
  CAPTURE(dump.err);
  CHECK(dump.exit_code == 0);
  check_whole(recorder.directory.path("run-1.sjt"));
  const test::Ended again = recorder.ctl("dump");
  CHECK(again.exit_code == 1);
  CHECK(again.err.contains("nothing is held any more"));
  CHECK(recorder.ctl("stop").exit_code == 0);
  CHECK(recorder.capture->wait().exit_code == 0);
  check_whole(recorder.directory.path("run.sjt"));
}

TEST_CASE("switching triggers for a target without switches are refused before it is recorded") {
  need_root();
  test::Child subject({"env", "SJ_RINGS=off", SJ_SUBJECT_LINKED, "100000"});
  REQUIRE(subject.wait_for_output("ready"));
  const test::TemporaryDirectory directory;
  const test::Ended ended =
      sojourn({"record", "-p", std::to_string(subject.pid()), "-o", directory.path("run.sjt"),
               "--flight", "1s", "--for", "1s", "--trigger", "disable library.*: number > 5"});
  CHECK(ended.exit_code == 1);
  CHECK(ended.err.contains("cannot be switched"));
  CHECK(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("a trigger that does not fit is refused before anything is recorded") {
  need_root();
  test::Child subject({SJ_SUBJECT_LINKED, "100000"});
  REQUIRE(subject.wait_for_output("ready"));
  const test::TemporaryDirectory directory;
  const auto refused = [&](const std::string& trigger) {
    return sojourn({"record", "-p", std::to_string(subject.pid()), "-o", directory.path("run.sjt"),
                    "--flight", "1s", "--trigger", trigger});
  };
  CHECK(refused("nubmer == 1").exit_code == 1);
  CHECK(refused("nubmer == 1").err.contains("nubmer"));
  CHECK(refused("explode: number == 1").exit_code == 2);
  CHECK(refused("disable: number == 1").exit_code == 2);
  CHECK(refused("disable nowhere.*: number == 1").exit_code == 1);
  CHECK(refused("disable nowhere.*: number == 1").err.contains("no point matches \"nowhere.*\""));
  for (const std::string trigger :
       {"nubmer == 1", "number", "at(nowhere) > 1ms", "explode: number == 1",
        "disable: number == 1", "disable nowhere.*: number == 1"})
    CHECK(refused(trigger).err.starts_with("sojourn: --trigger: "));
  CHECK(std::filesystem::is_empty(directory.path()));
}

}  // namespace
}  // namespace sojourn::live
