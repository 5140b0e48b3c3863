// Packets that were seen at one point only: complete, but of no latency.
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

using nlohmann::json;

constexpr unsigned kFreed = 90;
constexpr unsigned kTimed = 50;

std::string line(unsigned us, const std::string& what) {
  return fmt::format("1700000000.{:06} {}\n", us, what);
}

std::string imported(const test::TemporaryDirectory& directory, const std::string& text) {
  const std::string recording = directory.path("one.lseq");
  test::write_contents(recording, text);
  const std::string trace = directory.path("one.sjt");
  REQUIRE(sojourn({"import", recording, "-o", trace}).exit_code == 0);
  return trace;
}

// Buffers that are given back, every 100 us; no point shows when they were taken.
std::string freed_only() {
  std::string text;
  for (unsigned i = 0; i < kFreed; ++i)
    text += line(1000 + 100 * i, fmt::format("D msgb--freed len20::buf{}", i % 16));
  return text;
}

// Beside them packets that take 40 us and more.
std::string both() {
  std::string text;
  for (unsigned i = 0; i < kFreed; ++i) {
    text += line(1000 + 100 * i, fmt::format("D msgb--freed len20::buf{}", i % 16));
    if (i >= kTimed) continue;
    text += line(1001 + 100 * i, fmt::format("D in--a len200::sn{}", i));
    text += line(1041 + 100 * i + i, fmt::format("D a--out len200::sn{}", i));
  }
  return text;
}

json parsed(std::vector<std::string> arguments) {
  arguments.emplace_back("--json");
  return json::parse(output_of(std::move(arguments)));
}

TEST_CASE("a packet seen at one point only has no latency, instead of one of 0 ns") {
  const test::TemporaryDirectory directory;
  const std::string trace = imported(directory, freed_only());
  const std::string text = output_of({"report", trace});
  CHECK(text.contains(
      "D msgb--freed: 90 packets were seen at this point only, so they have no latency"));
  CHECK(text.contains("which point feeds which: sojourn report " + trace + " --explain-rules"));
  CHECK(text.contains("next: sojourn report " + trace + " --by point"));
  CHECK_FALSE(text.contains("0 ns"));
  CHECK_FALSE(text.contains("latency  "));
  const json down = parsed({"report", trace})["journeys"]["D"];
  CHECK(down["complete"] == kFreed);
  CHECK(down["at_one_point"] == kFreed);
  CHECK(down["latency_us"].is_null());
  CHECK(output_of({"report", trace, "--cdf", "text"}).starts_with("no figures: "));
  CHECK(output_of({"report", trace, "--cdf", "csv"}) == "dir,name,samples,us,at_most,longer\n");
  const std::string paste = output_of({"report", trace, "--paste"});
  CHECK(paste.contains("seen at this point only"));
  CHECK_FALSE(paste.contains("Slowest packet"));
  CHECK_FALSE(output_of({"report", trace, "--deadline", "10us"}).contains("0 ns"));
}

TEST_CASE("latencies cover the packets that have one") {
  const test::TemporaryDirectory directory;
  const std::string trace = imported(directory, both());
  const std::string text = output_of({"report", trace});
  CHECK(text.contains("D in -> out       50  64.5 us"));
  CHECK(text.contains("D msgb--freed: 90 packets were seen at this point only"));
  const json report = parsed({"report", trace, "--deadline", "10us"});
  CHECK(report["journeys"]["D"]["complete"] == kFreed + kTimed);
  CHECK(report["journeys"]["D"]["at_one_point"] == kFreed);
  CHECK(report["journeys"]["D"]["latency_us"]["min"] == 40.0);
  CHECK(report["deadline"]["D"]["of"] == kTimed);
  CHECK(report["deadline"]["D"]["late"] == kTimed);
}

TEST_CASE("packets at one point are counted in each group, and not timed") {
  const test::TemporaryDirectory directory;
  const std::string trace = imported(directory, both());
  const std::string text = output_of({"report", trace, "--by", "path"});
  CHECK(text.contains("90 packets were seen at one point only, and have no latency"));
  const json groups = parsed({"report", trace, "--by", "path"})["groups"];
  REQUIRE(groups.size() == 2);
  CHECK(groups[0]["name"] == "msgb -> freed");
  CHECK(groups[0]["count"] == kFreed);
  CHECK(groups[0]["at_one_point"] == kFreed);
  CHECK(groups[0]["latency_us"].is_null());
  CHECK(groups[0]["jitter_us"].is_null());
  CHECK(groups[0]["change_us"].is_null());
  CHECK(groups[0]["gap_us"]["p50"] == 100.0);
  CHECK(groups[1]["count"] == kTimed);
  CHECK(groups[1]["at_one_point"] == 0);
  CHECK(groups[1]["latency_us"]["min"] == 40.0);
  CHECK(groups[1]["jitter_us"] == 1.0);
  const json all = parsed({"report", trace, "--by", "direction"})["groups"];
  REQUIRE(all.size() == 1);
  CHECK(all[0]["count"] == kFreed + kTimed);
  CHECK(all[0]["latency_us"]["min"] == 40.0);
}

TEST_CASE("packets seen at one point are not among the slowest, late or timely ones") {
  const test::TemporaryDirectory directory;
  const std::string trace = imported(directory, both());
  const std::string first = output_of({"journeys", trace, "--limit", "1"});
  CHECK(first.starts_with("journey 1  D buf 0  complete  seen at one point only\n"));
  CHECK(json::parse(output_of({"journeys", trace, "--limit", "1", "--json"}))["at_one_point"] ==
        true);
  CHECK_FALSE(output_of({"journeys", trace, "--worst", "1000"}).contains("msgb"));
  const std::string text = output_of({"explain", trace, "--deadline", "50us"});
  CHECK(text.contains("39 of 50 complete packets took longer than 50.0 us"));
  CHECK(text.contains("90 more were seen at one point only: how long they took is not known"));
  const json explained = parsed({"explain", trace, "--deadline", "50us"});
  CHECK(explained["complete"] == kFreed + kTimed);
  CHECK(explained["at_one_point"] == kFreed);
}

TEST_CASE("if all packets were seen at one point only, --worst and explain report that") {
  const test::TemporaryDirectory directory;
  const std::string trace = imported(directory, freed_only());
  const test::Ended worst = sojourn({"journeys", trace, "--worst", "5"});
  CHECK(worst.exit_code == 0);
  CHECK(worst.out.empty());
  CHECK(worst.err == trace + ": 90 packets were seen at one point only, so they have no latency\n");
  CHECK(output_of({"explain", trace}).contains("no packet has a latency"));
}

TEST_CASE("LatSeq's tools get no journey of one event") {
  const test::TemporaryDirectory directory;
  const std::string trace = imported(directory, both());
  const test::Ended stats = sojourn({"export", trace, "--to", "latseq-json", "--what", "stats"});
  REQUIRE(stats.exit_code == 0);
  CHECK(stats.err == trace + ": 90 ways left out that LatSeq's tools would not read\n");
  CHECK(json::parse(stats.out)["D"]["size"] == kTimed);
}

}  // namespace
}  // namespace sojourn::cli_tests
