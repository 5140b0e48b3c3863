// report --paste: the contents of a bug report, and the secrets that it must not contain.
#include <span>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include "analysis/model/capture_info.h"
#include "analysis/model/schema.h"
#include "analysis/trace/writer.h"
#include "tests/cli/programs.h"
#include "userspace/files/trace_file.h"

namespace sojourn::cli_tests {
namespace {

TEST_CASE("a bug report has the losses, the report and the slowest packets") {
  const Traces traces;
  std::string text = output_of({"report", traces.path("radio"), "--paste"});
  std::string version = output_of({"--version"});
  version.pop_back();
  const auto at = text.find(version);
  REQUIRE(at != std::string::npos);
  compare("radio.paste.md", text.replace(at, version.size(), "VERSION"));
}

TEST_CASE("a bug report of some packets has the slowest of those") {
  const Traces traces;
  const std::string text =
      output_of({"report", traces.path("radio"), "--paste", "--where", "dir == U"});
  CHECK(text.contains("journeys where dir == U"));
  CHECK(text.contains("Slowest packet, uplink:"));
  CHECK_FALSE(text.contains("Slowest packet, downlink:"));
}

TEST_CASE("a bug report shows the losses, and that rules were stated") {
  const Traces traces;
  const std::string rules = traces.directory().path("my.rules");
  test::write_contents(rules, "expiry 5s\n");
  const std::string text = output_of({"report", traces.path("lossy"), "--paste", "--rules", rules});
  CHECK(text.contains("| lost | 3 (3 ring full) |\n"));
  CHECK(text.contains("| rules | stated with --rules |\n"));
}

TEST_CASE("a target's names are escaped in Markdown, and do not identify the machine") {
  const Traces traces;
  const std::string path = traces.directory().path("hostile.sjt");
  auto writer = files::create_trace(path);
  REQUIRE(writer.has_value());
  auto point = model::parse_point("D in````--out", "len::");
  REQUIRE(point.has_value());
  REQUIRE(writer->write(model::Schema{.points = {*point}}));
  for (const std::int32_t pid : {1, 2, 3})
    REQUIRE(writer->write(model::Target{.pid = pid,
                                        .name = "a`|@you\n# b",
                                        .exe = "/home/somebody/secret/gnb",
                                        .cmdline = {"/home/somebody/secret/gnb", "--key=hidden"},
                                        .build_id = "beef"}));
  REQUIRE(writer->write(model::Host{
      .name = "secret-host", .kernel = "6.18.0", .machine = "x86_64", .cpu_model = "A|B"}));
  REQUIRE(writer->write(model::Stream{.id = 0, .cpu = 0}));
  const std::uint64_t values[] = {100};
  model::EventBatch batch;
  batch.append({.ts_ns = 1000, .seq = 0, .stream = 0, .tid = 1, .point = 0, .values = values});
  REQUIRE(writer->write(batch));
  REQUIRE(writer->finish());
  const test::Ended ended = sojourn({"report", path, "--paste"});
  REQUIRE(ended.exit_code == 0);
  CAPTURE(ended.out);
  CHECK(ended.out.contains("| kernel | `6.18.0 x86_64` |\n"));
  CHECK(ended.out.contains("| CPU | `A\\|B` |\n"));
  CHECK(ended.out.contains("| target | `a'\\|@you?# b`, build id `beef` |\n"));
  CHECK_FALSE(ended.out.contains("secret"));
  CHECK_FALSE(ended.out.contains("hidden"));
  CHECK_FALSE(ended.out.contains(traces.directory().path("")));
  // The fence is longer than what could end it.
  CHECK(ended.out.contains("\n`````text\n"));
}

TEST_CASE("a bug report is one text") {
  const Traces traces;
  for (const std::string other : {"--json", "--points", "--costs", "--explain-rules"}) {
    const test::Ended ended = sojourn({"report", traces.path("radio"), "--paste", other});
    CHECK(ended.exit_code == 2);
    CHECK(ended.err.contains("--paste is a whole text"));
  }
}

}  // namespace
}  // namespace sojourn::cli_tests
