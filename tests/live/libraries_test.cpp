// Libraries and programs that a process brings in while it is recorded.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <unistd.h>

#include "tests/live/environment.h"
#include "tests/live/point_hits.h"
#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

bool is_there_whole(const Hits& hits) {
  return !hits.counts.empty() && is_gapless(hits);
}

TEST_CASE("points of a library that is loaded while its process is recorded count from then on") {
  need_root();
  struct Case {
    const char* engine;
    const char* library;
  };
  const auto [engine, library] =
      GENERATE(Case{"ring", SJ_SUBJECT_LIBRARY}, Case{"bpf", SJ_SUBJECT_LIBRARY},
               Case{"auto", SJ_SUBJECT_USDT_LIBRARY});
  CAPTURE(engine, library);
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  test::Child subject({SJ_SUBJECT_LOADER, library});
  REQUIRE(subject.wait_for_output("ready"));
  const std::string pid = std::to_string(subject.pid());
  test::Child tracer(
      {SJ_SOJOURN, "record", "-p", pid, "--engine", engine, "--budget", "none", "-o", trace});
  REQUIRE(tracer.wait_for_output("attached 1 point"));
  subject.signal(SIGUSR1);
  REQUIRE(tracer.wait_for_output(std::string("has loaded ") + library));
  REQUIRE(sojourn_done({"ctl", "-p", pid, "flush"}) == "flushed\n");
  for (int hits = 0; hits < 100; ++hits) usleep(1000);
  tracer.signal(SIGINT);
  const test::Ended ended = tracer.wait();
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);

  trace::Reader reader = open_trace(trace);
  const Hits before = hits_of(reader, "loader.in--library.in");
  const Hits late = hits_of(reader, "library.in--library.out");
  CHECK(is_gapless(before));
  CHECK(is_gapless(late));
  REQUIRE(late.counts.size() > 20);
  CHECK(reader.gaps().empty());
  CHECK(reader.ledger().empty());

  REQUIRE(reader.capture().unarmed.size() == 1);
  const model::UnarmedSpan& unarmed = reader.capture().unarmed.front();
  CHECK(unarmed.pid == subject.pid());
  REQUIRE(unarmed.point < reader.schema().points.size());
  CHECK(reader.schema().points[unarmed.point].name() == "library.in--library.out");
  CHECK(unarmed.from_ns >= reader.capture().open_ns);
  CHECK(unarmed.from_ns < unarmed.until_ns);
  // From the end of the span on every hit is there: the program's point is hit before each of them.
  CHECK(late.first_ns > unarmed.from_ns);
  CHECK(late.first_ns < unarmed.until_ns + 100'000'000);
  CHECK(sojourn_done({"report", trace}).contains("not armed yet: D library.in--library.out"));
}

TEST_CASE("a library with queues and without points does not disturb a capture") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  test::Child subject({SJ_SUBJECT_LOADER, SJ_SUBJECT_QUEUE_LIBRARY});
  REQUIRE(subject.wait_for_output("ready"));
  const std::string pid = std::to_string(subject.pid());
  const std::vector<std::string> record = {"record", "-p", pid,  "--engine", "ring",
                                           "--for",  "3s", "-o", trace};
  std::vector<std::string> tracing = record;
  tracing.insert(tracing.begin(), SJ_SOJOURN);
  test::Child tracer(tracing);
  REQUIRE(tracer.wait_for_output("attached 1 point"));
  subject.signal(SIGUSR1);
  const test::Ended ended = tracer.wait();
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  trace::Reader late = open_trace(trace);
  CHECK(is_there_whole(hits_of(late, "loader.in--library.in")));
  CHECK(late.capture().ended_by == "duration");

  const std::string status = sojourn_done({"ctl", "-p", pid, "status"});
  CHECK(status.contains("loader.in--library.in"));
  sojourn_done(record);  // it is there from the start now
  trace::Reader early = open_trace(trace);
  CHECK(is_there_whole(hits_of(early, "loader.in--library.in")));
  CHECK(sojourn_done({"list", "-p", pid}).contains("library.queue"));
}

TEST_CASE("a library whose rings are invalid is left out, and the rest goes on") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  test::Child subject({SJ_SUBJECT_LOADER, SJ_SUBJECT_UNFIT_LIBRARY});
  REQUIRE(subject.wait_for_output("ready"));
  test::Child tracer({SJ_SOJOURN, "record", "-p", std::to_string(subject.pid()), "--engine", "ring",
                      "--for", "4s", "-o", trace});
  REQUIRE(tracer.wait_for_output("attached 1 point"));
  subject.signal(SIGUSR1);
  const test::Ended ended = tracer.wait();
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK(ended.err.contains("not recorded: a library that came later: "));
  trace::Reader reader = open_trace(trace);
  CHECK(is_there_whole(hits_of(reader, "loader.in--library.in")));
  CHECK(reader.capture().ended_by == "duration");
}

TEST_CASE("the rings of a process with such a library are read after its end, and before") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  std::optional<Environment> flight(std::in_place, "SJ_RINGS", "flight");
  std::optional<Environment> named(std::in_place, "SJ_RING_DIR", directory.path("rings").c_str());
  std::filesystem::create_directory(directory.path("rings"));
  test::Child subject({SJ_SUBJECT_LOADER, SJ_SUBJECT_QUEUE_LIBRARY});
  flight.reset();
  named.reset();
  REQUIRE(subject.wait_for_output("ready"));
  subject.signal(SIGUSR1);
  const std::string pid = std::to_string(subject.pid());
  const auto has_queue = [&] { return sojourn({"list", "-p", pid}).out.contains("library.queue"); };
  for (int tries = 0; tries < 100 && !has_queue(); ++tries) usleep(10'000);
  REQUIRE(has_queue());
  sojourn_done({"record", "-p", pid, "--snapshot", "-o", trace});
  trace::Reader before = open_trace(trace);
  CHECK(is_there_whole(hits_of(before, "loader.in--library.in")));
  subject.signal(SIGKILL);
  subject.wait();
  sojourn_done({"record", "--post-mortem", directory.path("rings"), "-o", trace});
  trace::Reader after = open_trace(trace);
  CHECK(is_there_whole(hits_of(after, "loader.in--library.in")));
  CHECK(after.targets().front().name == "sj-subject-loader");
}

TEST_CASE("a command that loads and unloads a library until it ends is recorded to its end") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  for (int times = 0; times < 10; ++times) {
    const test::Ended ended = sojourn({"record", "--engine", "ring", "-o", trace, "--",
                                       SJ_SUBJECT_UNLOADER, SJ_SUBJECT_LIBRARY, "20"});
    CAPTURE(ended.err);
    REQUIRE(ended.exit_code == 0);
    trace::Reader reader = open_trace(trace);
    CHECK(hits_of(reader, "unloader.in--library.in").counts.size() == 20);
    std::set<std::string> names;
    for (const model::Point& point : reader.schema().points) names.insert(point.name());
    CHECK(names.size() == reader.schema().points.size());
  }
}

TEST_CASE("files that were there from the start are attached to once") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  test::Child subject({SJ_SUBJECT_LINKED, "100000"});
  REQUIRE(subject.wait_for_output("ready"));
  // Its files are read again after a second, and have nothing new.
  const test::Ended ended = sojourn({"record", "-p", std::to_string(subject.pid()), "--engine",
                                     "bpf", "--budget", "none", "--for", "2500ms", "-o", trace});
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK_FALSE(ended.err.contains("has loaded"));
  trace::Reader reader = open_trace(trace);
  CHECK(is_gapless(hits_of(reader, "library.in--library.out")));
  CHECK(reader.capture().unarmed.empty());
}

TEST_CASE("a command's files are not attached to a second time once it runs") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  const test::Ended ended = sojourn({"record", "--engine", "bpf", "--budget", "none", "--for",
                                     "2500ms", "-o", trace, "--", SJ_SUBJECT_LINKED, "4000"});
  CAPTURE(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK_FALSE(ended.err.contains("has loaded"));
  trace::Reader reader = open_trace(trace);
  const Hits hits = hits_of(reader, "library.in--library.out");
  REQUIRE_FALSE(hits.counts.empty());
  CHECK(hits.counts.front() == 0);
  CHECK(is_gapless(hits));
}

}  // namespace
}  // namespace sojourn::live
