// Reports of sojourn.wasm under Node, compared byte for byte with `sojourn report --json`.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/golden/fixture.h"
#include "tests/support/child.h"
#include "tests/unit/context/trace.h"
#include "userspace/files/trace_file.h"

namespace sojourn {
namespace {

test::Ended in_node(const std::string& trace, const std::string& way) {
  return test::run({"node", SJ_REPORT, SJ_WASM, trace, way});
}

void require_same(const std::string& trace) {
  const test::Ended native = test::run({SJ_SOJOURN, "report", "--json", trace});
  REQUIRE(native.exit_code == 0);
  REQUIRE(native.out.size() > 1000);
  for (const std::string way : {"pieces", "memory"}) {
    const test::Ended made = in_node(trace, way);
    CAPTURE(way, made.err);
    REQUIRE(made.exit_code == 0);
    CHECK(made.out == native.out);
  }
}

std::string golden_trace(const test::TemporaryDirectory& directory, const std::string& name) {
  std::string trace = directory.path(name + ".sjt");
  REQUIRE(golden::write_trace(SJ_GOLDEN "/" + name + ".events", trace));
  return trace;
}

TEST_CASE("the golden traces have the same report") {
  const test::TemporaryDirectory directory;
  for (const std::string name : {"radio", "lossy"}) {
    CAPTURE(name);
    require_same(golden_trace(directory, name));
  }
}

TEST_CASE("a trace of many events and UEs has the same report") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("many.sjt");
  REQUIRE(test::run({SJ_MAKE_TRACE, trace, "300000", "200"}).exit_code == 0);
  require_same(trace);
}

TEST_CASE("a trace that was cut anywhere has the same report, found without its index") {
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("cut.sjt");
  REQUIRE(test::run({SJ_MAKE_TRACE, trace, "60000", "20"}).exit_code == 0);
  for (const std::uint64_t parts : {8U, 5U}) {
    CAPTURE(parts);
    std::filesystem::resize_file(trace, std::filesystem::file_size(trace) * parts / 10);
    require_same(trace);
  }
}

TEST_CASE("a trace of threads' activity has the same report") {
  context::test::Trace made;
  made.schema.points.erase(made.schema.points.begin());  // of the target
  made.is_thread(101, "");
  made.is_thread(102, "");
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("threads.sjt");
  const auto point = [](model::PointId id) { return static_cast<model::PointId>(id - 1); };
  using namespace context::test;
  made.add(1100, 0, 101, point(kSwitch), {900, 900, 0, 101, kPid, 120});
  made.add(1200, 0, 101, point(kSyscall), {202, 50, 0, 0, 1});
  made.add(1300, 0, 102, point(kWakeup), {101, kPid, 0, 0, 5});
  made.add(1400, 0, 101, point(kSwitch), {101, kPid, kSleeping, 102, kPid, 120});
  made.add(1700, 0, 102, point(kSwitch), {102, kPid, kSleeping, 900, 900, 120});
  auto writer = files::create_trace(trace);
  REQUIRE(writer.has_value());
  model::Target target;
  target.pid = kPid;
  target.name = "station";
  REQUIRE(writer->write(made.schema));
  REQUIRE(writer->write(target));
  for (const model::Stream& stream : made.streams) REQUIRE(writer->write(stream));
  REQUIRE(writer->write(made.events));
  REQUIRE(writer->write(made.context));
  REQUIRE(writer->write(made.capture));
  REQUIRE(writer->finish());
  require_same(trace);
  CHECK(in_node(trace, "memory").out.contains("\"threads\""));
}

TEST_CASE("a file that is no trace is refused in words") {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path("x.sjt");
  const auto words_of = [](const test::Ended& ended, const std::string& name) {
    REQUIRE(ended.exit_code == 1);
    CHECK(ended.out.empty());
    REQUIRE(ended.err.starts_with("sojourn: " + name));
    return ended.err.substr(std::string("sojourn: " + name).size());
  };
  for (const std::string& bytes :
       {std::string(), std::string("SJ\x01"), std::string(100'000, '\1')}) {
    test::write_contents(path, bytes);
    const auto native = words_of(test::run({SJ_SOJOURN, "report", "--json", path}), path);
    CHECK(words_of(in_node(path, "pieces"), "trace") == native);
  }
  // The page also opens LatSeq recordings, which are text. So the error for another text says that
  // it is not a recording.
  for (const std::string& text : {std::string("dear diary"), std::string(100'000, 'x')}) {
    test::write_contents(path, text);
    CHECK(words_of(in_node(path, "pieces"), "trace").starts_with(": no LatSeq event in 1 line"));
  }
}

}  // namespace
}  // namespace sojourn
