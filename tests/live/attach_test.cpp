// Targets as they are.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <nlohmann/json.hpp>

#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

TEST_CASE("argument values of every width and sign are read exactly") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  test::Child subject({SJ_SUBJECT_VALUES, "60"});
  REQUIRE(subject.wait_for_output("ready"));
  sojourn_done({"record", "-p", std::to_string(subject.pid()), "--for", "300ms", "-o", trace});

  trace::Reader reader = open_trace(trace);
  const auto widen = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  const std::vector<std::uint64_t> few = {
      widen(-100), 0x4601, widen(-2000000000), 0xfedcba9876543210, widen(-5000000000), widen(-7)};
  std::uint64_t few_seen = 0;
  std::uint64_t many_seen = 0;
  std::uint64_t counter = 0;
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row) {
      const model::EventView event = batch[row];
      const std::vector<std::uint64_t> values(event.values.begin(), event.values.end());
      if (reader.schema().points[event.point].src == "values.few") {
        ++few_seen;
        CHECK(values == few);
        continue;
      }
      ++many_seen;
      // The eighth counts the hits; the ninth and later are in memory.
      if (counter != 0) CHECK(values.at(7) == counter + 1);
      counter = values.at(7);
      CHECK(values == std::vector<std::uint64_t>{few[0], few[1], few[2], few[3], few[4], 6, 7,
                                                 counter, few[0], few[1], few[2], few[3]});
    }
    return true;
  }));
  CHECK(few_seen > 100);
  CHECK(many_seen > 100);
}

TEST_CASE("a stripped, deleted executable is traced like any other") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string copy = directory.path("station");
  REQUIRE(test::run({"strip", "-o", copy, SJ_BASESTATION}).exit_code == 0);
  test::Child station({copy, "--ready-fd", "3"});
  REQUIRE(station.wait_for_ready_line() == "ready\n");
  std::filesystem::remove(copy);
  const std::string trace = directory.path("run.sjt");
  sojourn_done({"record", "-p", std::to_string(station.pid()), "--for", "500ms", "-o", trace});
  CHECK(open_trace(trace).events() > 1000);
}

// Counts the hits of each point of the linked program, "linked.in--library.in" and
// "library.in--library.out".
std::map<std::string, int> hits_of_linked(const std::string& trace) {
  trace::Reader reader = open_trace(trace);
  std::map<std::string, int> hits;
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (const model::PointId point : batch.point()) ++hits[reader.schema().points[point].name()];
    return true;
  }));
  return hits;
}

TEST_CASE("points of a fixed-address program and of its library are traced together") {
  need_root();
  const std::string attach = GENERATE("multi", "perf");
  CAPTURE(attach);
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  test::Child subject({SJ_SUBJECT_LINKED, "100000"});
  REQUIRE(subject.wait_for_output("ready"));
  sojourn_done({"record", "-p", std::to_string(subject.pid()), "--for", "300ms", "-o", trace,
                "--attach", attach, "--budget", "none"});
  auto hits = hits_of_linked(trace);
  CHECK(hits["linked.in--library.in"] > 50);
  CHECK(std::abs(hits["linked.in--library.in"] - hits["library.in--library.out"]) <= 1);
}

TEST_CASE("points without rings are traced by eBPF beside those that have them, on one time line") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  test::Child subject({SJ_SUBJECT_MIXED, "100000"});
  REQUIRE(subject.wait_for_output("ready"));
  const test::Ended ended =
      sojourn({"record", "-p", std::to_string(subject.pid()), "--for", "500ms", "-o", trace});
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK(ended.err.find("1 by rings and 1 by eBPF") != std::string::npos);

  trace::Reader reader = open_trace(trace);
  std::map<std::uint32_t, model::Engine> engines;
  for (const model::Stream& stream : reader.streams()) engines[stream.id] = stream.engine;
  std::map<std::string, std::uint64_t> next;
  std::string order;
  REQUIRE(reader.merge([&](const model::EventBatch& batch) {
    for (std::size_t row = 0; row < batch.size(); ++row) {
      const model::EventView event = batch[row];
      const std::string name = reader.schema().points[event.point].name();
      const bool ring = name == "linked.in--library.in";
      CHECK(engines.at(event.stream) == (ring ? model::Engine::kRing : model::Engine::kBpf));
      order += ring ? 'r' : 'b';
      if (next.contains(name)) CHECK(event.values[0] == next[name]);
      next[name] = event.values[0] + 1;
    }
    return true;
  }));
  // The library is entered some 100 ns after the program's point, far more than stamps are off.
  CHECK(order.size() > 500);
  CHECK(order.find("rr") == std::string::npos);
  CHECK(order.find("bb") == std::string::npos);
  CHECK(reader.gaps().empty());
  CHECK(reader.ledger().empty());
}

TEST_CASE(
    "a command's libraries are traced from the first hit on, also where they are found by a "
    "relative path") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  const std::string library = std::filesystem::path(SJ_SUBJECT_LIBRARY).filename();
  std::filesystem::copy_file(SJ_SUBJECT_LIBRARY, directory.path(library));
  const test::Ended ended =
      test::run({"env", "-C", directory.path(""), "LD_LIBRARY_PATH=.", SJ_SOJOURN, "record", "-o",
                 trace, "--budget", "none", "--", SJ_SUBJECT_LINKED, "100"});
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  auto hits = hits_of_linked(trace);
  CHECK(hits["linked.in--library.in"] == 100);
  CHECK(hits["library.in--library.out"] == 100);
}

TEST_CASE("a target whose files are in a mount namespace of its own is traced through its root") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  const std::string inside = directory.path("inside");
  std::filesystem::create_directory(inside);
  test::Child subject({"unshare", "--mount", "sh", "-c",
                       "mount -t tmpfs tmpfs '" + inside + "' && cp '" SJ_SUBJECT_VALUES "' '" +
                           inside + "/subject' && exec '" + inside + "/subject' 60"});
  REQUIRE(subject.wait_for_output("ready"));
  REQUIRE_FALSE(std::filesystem::exists(inside + "/subject"));
  sojourn_done({"record", "-p", std::to_string(subject.pid()), "--for", "300ms", "-o", trace});
  CHECK(open_trace(trace).events() > 100);
}

TEST_CASE("list shows the points of a process as JSON") {
  need_root();
  test::Child subject({SJ_SUBJECT_VALUES, "60"});
  REQUIRE(subject.wait_for_output("ready"));
  const auto listed =
      nlohmann::json::parse(sojourn_done({"list", "-p", std::to_string(subject.pid()), "--json"}));
  CHECK(listed["pid"] == subject.pid());
  REQUIRE(listed["points"].size() == 2);
  const auto& point =
      listed["points"][0]["src"] == "values.few" ? listed["points"][0] : listed["points"][1];
  CHECK(point["name"] == "values.few--values.out");
  CHECK(point["dir"] == "D");
  CHECK(point["dest"] == "values.out");
  CHECK(point["engines"] == nlohmann::json::array({"bpf", "ring"}));
  REQUIRE(point["fields"].size() == 6);
  CHECK(point["fields"][0] == nlohmann::json({{"name", "i8"}, {"role", "property"}, {"bytes", 1}}));
  CHECK(point["fields"][2]["role"] == "global");
  CHECK(point["fields"][3]["bytes"] == 8);
}

TEST_CASE("a late second capture beside a running one sees the same") {
  need_root();
  const test::TemporaryDirectory directory;
  Station station;
  const std::string pid = std::to_string(station.pid());
  test::Child first({SJ_SOJOURN, "record", "-p", pid, "-o", directory.path("first.sjt")});
  REQUIRE(first.wait_for_output("attached"));
  sojourn_done({"record", "-p", pid, "--for", "500ms", "-o", directory.path("second.sjt")});
  first.signal(SIGINT);
  REQUIRE(first.wait().exit_code == 0);
  trace::Reader outer = open_trace(directory.path("first.sjt"));
  trace::Reader inner = open_trace(directory.path("second.sjt"));
  REQUIRE(inner.capture().open_ns > outer.capture().open_ns);
  REQUIRE(inner.capture().close_ns < outer.capture().close_ns);
  CHECK(inner.events() > 1000);
  CHECK(outer.events() > inner.events());
}

TEST_CASE("a capture is exactly as long as was asked for") {
  need_root();
  const std::string attach = GENERATE("multi", "perf");
  CAPTURE(attach);
  const test::TemporaryDirectory directory;
  Station station;
  sojourn_done({"record", "-p", std::to_string(station.pid()), "--for", "300ms", "-o",
                directory.path("run.sjt"), "--attach", attach, "--budget", "none"});
  const trace::Reader reader = open_trace(directory.path("run.sjt"));
  CHECK(reader.capture().close_ns - reader.capture().open_ns == 300'000'000);
  CHECK(reader.capture().ended_by == "duration");
}

TEST_CASE("an interrupt ends a capture before its time, and the trace names a signal") {
  need_root();
  const test::TemporaryDirectory directory;
  Station station;
  test::Child tracer({SJ_SOJOURN, "record", "-p", std::to_string(station.pid()), "--for", "1h",
                      "-o", directory.path("run.sjt")});
  REQUIRE(tracer.wait_for_output("attached"));
  tracer.signal(SIGTERM);
  CHECK(tracer.wait().exit_code == 0);
  const trace::Reader reader = open_trace(directory.path("run.sjt"));
  CHECK(reader.capture().ended_by == "SIGTERM");
  CHECK(reader.capture().close_ns - reader.capture().open_ns < 3600'000'000'000);
}

TEST_CASE("a stopped target is reported as stopped, not as one without traffic") {
  need_root();
  const test::TemporaryDirectory directory;
  test::Child subject({SJ_SUBJECT_VALUES, "60"});
  REQUIRE(subject.wait_for_output("ready"));
  subject.signal(SIGSTOP);
  const test::Ended ended = sojourn({"record", "-p", std::to_string(subject.pid()), "--for",
                                     "100ms", "-o", directory.path("run.sjt")});
  CHECK(ended.exit_code == 0);
  CHECK(ended.err.contains("is stopped"));
  CHECK_FALSE(ended.err.contains("traffic"));
}

TEST_CASE("a process without points that does nothing is reported as that, not asked for traffic") {
  need_root();
  const test::TemporaryDirectory directory;
  const test::Child idle({"sleep", "60"});
  const test::Ended ended = sojourn({"record", "-p", std::to_string(idle.pid()), "--context",
                                     "sched", "--for", "100ms", "-o", directory.path("run.sjt")});
  CAPTURE(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(ended.err.contains("nothing happened"));
  CHECK_FALSE(ended.err.contains("traffic"));
}

TEST_CASE("a command that outlives its capture is left running, and named") {
  need_root();
  const test::TemporaryDirectory directory;
  const test::Ended ended = sojourn(
      {"record", "--for", "100ms", "-o", directory.path("run.sjt"), "--", SJ_SUBJECT_VALUES, "60"});
  CHECK(ended.exit_code == 0);
  const auto pid = open_trace(directory.path("run.sjt")).target().pid;
  CHECK(ended.err.contains("is still running as process " + std::to_string(pid)));
  CHECK(kill(pid, SIGKILL) == 0);
}

TEST_CASE("the trace is complete on disk before perf uprobes are removed") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  Station station;
  test::Child tracer({SJ_SOJOURN, "record", "-p", std::to_string(station.pid()), "--for", "200ms",
                      "--attach", "perf", "--budget", "none", "-o", trace});
  REQUIRE(tracer.wait_for_output("the trace is complete; removing"));
  CHECK(open_trace(trace).capture().ended_by == "duration");
  CHECK(tracer.wait().exit_code == 0);
}

TEST_CASE("the fallback for older kernels is reported") {
  need_root();
  const test::TemporaryDirectory directory;
  Station station;
  const test::Ended ended =
      sojourn({"record", "-p", std::to_string(station.pid()), "--for", "200ms", "--attach", "perf",
               "--budget", "none", "-o", directory.path("run.sjt")});
  CHECK(ended.exit_code == 0);
  CHECK(ended.err.contains("perf uprobes"));
  CHECK(open_trace(directory.path("run.sjt")).capture().attach == "perf uprobes");
}

}  // namespace
}  // namespace sojourn::live
