// The ring engine: recorded events compared with the base station's own record, losses, and the
// target after the death of its collector.
#include <chrono>
#include <csignal>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/live/point_counts.h"
#include "tests/live/programs.h"
#include "tests/live/truth_pairing.h"

namespace sojourn::live {
namespace {

using std::chrono::milliseconds;

std::vector<std::string> record(const Station& station, const std::string& trace,
                                std::vector<std::string> options) {
  std::vector<std::string> arguments = {
      "record", "-p", std::to_string(station.pid()), "-o", trace, "--engine", "ring"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return arguments;
}

TEST_CASE("by rings, every hit between the marks is in the trace, in its thread's order") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  Station station({"--air-loss", "0.1", "--drop", "rlc.tx:0.01"});
  sojourn_done(record(station, trace, {"--for", "2s", "--ring-size", "1M"}));
  const truth::Truth truth = station.finish();

  trace::Reader reader = open_trace(trace);
  REQUIRE(reader.ledger().empty());
  CHECK(reader.capture().engine == model::Engine::kRing);
  // Stamps are converted from the cycle counter, with the error that the trace states.
  const std::uint64_t stamp_error_ns = reader.capture().stamp_error_ns;
  CHECK(stamp_error_ns > 0);
  CHECK(stamp_error_ns < 1'000'000);
  auto pairing = pair_with_truth(reader, truth, stamp_error_ns);
  if (!pairing) FAIL(pairing.error().text());
  CHECK(reader.gaps().empty());
  for (const auto& difference : pairing->differences) UNSCOPED_INFO(difference);
  CHECK(pairing->differences.empty());
  CHECK(pairing->observations.size() > 100'000);
  CHECK(pairing->observations.size() >= pairing->hits_between_marks);
  CHECK(pairing->observations.size() <= pairing->hits_between_marks + pairing->hits_on_a_mark);
  for (const model::Stream& stream : reader.streams()) {
    CHECK(stream.engine == model::Engine::kRing);
    CHECK(stream.tid > 0);
  }
}

TEST_CASE("losses of small rings are in the ledger, point by point, and nothing else is missing") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  Station station({"--air-loss", "0.1"});
  sojourn_done(record(station, trace, {"--for", "2s", "--ring-size", "4K", "--poll", "30ms"}));
  const truth::Truth truth = station.finish();

  trace::Reader reader = open_trace(trace);
  const PointCounts counts = count_points(reader);
  for (const model::LedgerEntry& entry : reader.ledger())
    CHECK(entry.cause == model::LossCause::kRingFull);
  REQUIRE(counts.lost_in_all > 1000);
  check_counts(counts, truth, reader.capture());
  check_gaps(reader);
}

nlohmann::json status_of(pid_t pid) {
  return nlohmann::json::parse(
      sojourn_done({"ctl", "-p", std::to_string(pid), "status", "--json"}));
}

std::size_t armed_points(pid_t pid) {
  std::size_t armed = 0;
  const nlohmann::json status = status_of(pid);
  for (const auto& point : status.at("points")) armed += point.at("armed") == true ? 1 : 0;
  return armed;
}

TEST_CASE("a target whose collector was killed disarms itself, and the next one collects all") {
  const test::TemporaryDirectory directory;
  Station station;
  {
    test::Child tracer({SJ_SOJOURN, "record", "-p", std::to_string(station.pid()), "-o",
                        directory.path("killed.sjt"), "--engine", "ring", "--ring-size", "4K"});
    REQUIRE(tracer.wait_for_output("attached"));
    std::this_thread::sleep_for(milliseconds(200));
    CHECK(armed_points(station.pid()) > 20);
    tracer.signal(SIGKILL);
    tracer.wait();
  }
  // It notices by itself, within some two seconds and the next full ring.
  for (int tries = 0; tries < 100 && armed_points(station.pid()) != 0; ++tries)
    std::this_thread::sleep_for(milliseconds(100));
  CHECK(armed_points(station.pid()) == 0);
  REQUIRE(station.running());

  const std::string trace = directory.path("next.sjt");
  sojourn_done(record(station, trace, {"--for", "1s", "--ring-size", "256K"}));
  trace::Reader reader = open_trace(trace);
  auto pairing = pair_with_truth(reader, station.finish(), reader.capture().stamp_error_ns);
  if (!pairing) FAIL(pairing.error().text());
  for (const auto& difference : pairing->differences) UNSCOPED_INFO(difference);
  CHECK(pairing->differences.empty());
  CHECK(pairing->observations.size() > 10'000);
}

TEST_CASE("a second collector is refused while the first one is attached") {
  const test::TemporaryDirectory directory;
  Station station;
  test::Child first({SJ_SOJOURN, "record", "-p", std::to_string(station.pid()), "-o",
                     directory.path("first.sjt"), "--engine", "ring"});
  REQUIRE(first.wait_for_output("attached"));
  const test::Ended second =
      sojourn(record(station, directory.path("second.sjt"), {"--for", "1s"}));
  CHECK(second.exit_code == 1);
  CHECK(second.err.contains("another collector is attached"));
  first.signal(SIGINT);
  CHECK(first.wait().exit_code == 0);
  CHECK(open_trace(directory.path("first.sjt")).events() > 0);
}

TEST_CASE("points that are switched off are not hit, and are again once they are on") {
  const test::TemporaryDirectory directory;
  Station station;
  const std::string pid = std::to_string(station.pid());
  sojourn_done({"ctl", "-p", pid, "disable", "rlc.*"});
  std::size_t off = 0;
  const nlohmann::json status = status_of(station.pid());
  for (const auto& point : status.at("points")) {
    const bool is_rlc = point.at("name").get<std::string>().starts_with("rlc.");
    CHECK(point.at("on") == !is_rlc);
    off += is_rlc ? 1 : 0;
  }
  CHECK(off > 5);
  const auto rlc_events = [&](const std::string& name) {
    const std::string trace = directory.path(name);
    sojourn_done(record(station, trace, {"--for", "500ms"}));
    trace::Reader reader = open_trace(trace);
    std::uint64_t count = 0;
    REQUIRE(reader.merge([&](const model::EventBatch& batch) {
      for (const model::PointId point : batch.point())
        count += reader.schema().points[point].src.starts_with("rlc.") ? 1 : 0;
      return true;
    }));
    CHECK(reader.events() > 1000);
    // The trace says which points were off all the time.
    const model::Capture& capture = reader.capture();
    CHECK(capture.shed.size() == (count == 0 ? off : 0));
    for (const model::ShedSpan& span : capture.shed) {
      CHECK(reader.schema().points[span.point].src.starts_with("rlc."));
      CHECK(span.from_ns == capture.open_ns);
      CHECK(span.until_ns == capture.close_ns);
    }
    return count;
  };
  CHECK(rlc_events("off.sjt") == 0);
  const test::Ended told = sojourn(record(station, directory.path("told.sjt"), {"--for", "100ms"}));
  CHECK(told.err.contains(std::to_string(off) + " points of process " + pid));
  CHECK_FALSE(told.err.contains("never hit"));
  sojourn_done({"ctl", "-p", pid, "disable", "*"});
  CHECK(sojourn(record(station, directory.path("none.sjt"), {"--for", "100ms"}))
            .err.contains("points were switched off"));
  sojourn_done({"ctl", "-p", pid, "enable", "D *"});
  sojourn_done({"ctl", "-p", pid, "enable", "U *"});
  CHECK(rlc_events("on.sjt") > 100);
  const test::Ended unknown = sojourn({"ctl", "-p", pid, "disable", "nothing.is.called.so"});
  CHECK(unknown.exit_code == 1);
  CHECK(unknown.err.contains("no point"));
}

TEST_CASE("a target without rings has no switches, and cannot be recorded by rings") {
  const test::TemporaryDirectory directory;
  setenv("SJ_RINGS", "off", 1);
  Station station;
  unsetenv("SJ_RINGS");
  const test::Ended status = sojourn({"ctl", "-p", std::to_string(station.pid()), "status"});
  CHECK(status.exit_code == 1);
  CHECK(status.err.contains("has no rings"));
  const test::Ended ended = sojourn(record(station, directory.path("run.sjt"), {"--for", "1s"}));
  CHECK(ended.exit_code == 1);
  CHECK(ended.err.contains("has no rings"));
}

TEST_CASE("if the cycle counter does not tick steadily, rings are only used on request") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string cpuinfo = directory.path("cpuinfo");
  test::write_contents(cpuinfo, "model name\t: A CPU\nflags\t\t: fpu tsc constant_tsc sse2\n");
  test::Child subject({SJ_SUBJECT_LINKED, "100000"});
  REQUIRE(subject.wait_for_output("ready"));
  const auto record_there = [&](const std::string& engine) {
    return test::run({"unshare", "-m", "sh", "-c",
                      "mount --bind \"$1\" /proc/cpuinfo && exec \"$2\" record -p \"$3\" --for "
                      "100ms --engine \"$4\" -o \"$5\"",
                      "sh", cpuinfo, SJ_SOJOURN, std::to_string(subject.pid()), engine,
                      directory.path("run.sjt")});
  };
  const test::Ended chosen = record_there("auto");
  CAPTURE(chosen.err);
  CHECK(chosen.exit_code == 0);
  CHECK(chosen.err.contains("by eBPF"));
  CHECK(chosen.err.contains("not by rings: the cycle counter"));
  const test::Ended asked = record_there("ring");
  CAPTURE(asked.err);
  CHECK(asked.exit_code == 0);
  CHECK(asked.err.contains("by rings"));
  CHECK(asked.err.contains("times will be wrong: the cycle counter"));
}

TEST_CASE("an ordinary user records a process of his own by rings") {
  if (geteuid() != 0) SKIP("becoming another user needs root; run as root to have this tested");
  const test::TemporaryDirectory directory;
  REQUIRE(chmod(directory.path().c_str(), 0777) == 0);
  const std::string trace = directory.path("run.sjt");
  const std::vector<std::string> as_nobody = {"setpriv", "--reuid=65534", "--regid=65534",
                                              "--clear-groups", "--inh-caps=-all"};
  auto station_arguments = as_nobody;
  for (const char* word : {SJ_BASESTATION, "--ready-fd", "3"}) station_arguments.push_back(word);
  test::Child station(station_arguments);
  REQUIRE(station.wait_for_ready_line() == "ready\n");
  auto arguments = as_nobody;
  const std::string pid = std::to_string(station.pid());
  for (const std::string& word :
       {std::string(SJ_SOJOURN), std::string("record"), std::string("-p"), pid,
        std::string("--for"), std::string("500ms"), std::string("-o"), trace})
    arguments.push_back(word);
  const test::Ended ended = test::run(arguments);
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(ended.err.contains("by rings"));
  trace::Reader reader = open_trace(trace);
  CHECK(reader.events() > 1000);
  CHECK(reader.ledger().empty());
}

}  // namespace
}  // namespace sojourn::live
