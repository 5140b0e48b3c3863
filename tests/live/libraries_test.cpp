// Libraries and programs that a process brings in while it is recorded.
#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <unistd.h>

#include "tests/live/point_hits.h"
#include "tests/live/programs.h"

namespace sojourn::live {
namespace {

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
  test::Child tracer({SJ_SOJOURN, "record", "-p", pid, "--engine", engine, "-o", trace});
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

TEST_CASE("files that were there from the start are attached to once") {
  need_root();
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  test::Child subject({SJ_SUBJECT_LINKED, "100000"});
  REQUIRE(subject.wait_for_output("ready"));
  // Its files are looked at anew after a second: nothing is new in them.
  const test::Ended ended = sojourn({"record", "-p", std::to_string(subject.pid()), "--engine",
                                     "bpf", "--for", "2500ms", "-o", trace});
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
  const test::Ended ended = sojourn({"record", "--engine", "bpf", "--for", "2500ms", "-o", trace,
                                     "--", SJ_SUBJECT_LINKED, "4000"});
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
