// `sojourn history`: from which trace on a latency is another one.
#include <algorithm>
#include <climits>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/cli/programs.h"
#include "tests/unit/differential/queueing.h"

namespace sojourn::cli_tests {
namespace {

using nlohmann::json;

// Packets that take 100 us in `a` and about `stay_us` in `b`.
std::string trace_of(const test::TemporaryDirectory& directory, int number, unsigned stay_us) {
  std::string text;
  for (unsigned packet = 0; packet < 50; ++packet) {
    const unsigned at_us = packet * 1000;
    const unsigned done_us = at_us + 100 + stay_us + packet % 5;
    text += fmt::format("1.{:06} D in--a len100:rnti1:sn{}\n", at_us, packet);
    text += fmt::format("1.{:06} D a--b len100:rnti1:sn{}\n", at_us + 100, packet);
    text += fmt::format("1.{:06} D b--out len100:rnti1:sn{}\n", done_us, packet);
  }
  const std::string name = directory.path(fmt::format("night-{}", number));
  test::write_contents(name + ".lseq", text);
  REQUIRE(sojourn({"import", name + ".lseq", "-o", name + ".sjt"}).exit_code == 0);
  return name + ".sjt";
}

std::vector<std::string> history_of(std::vector<std::string> traces) {
  traces.insert(traces.begin(), "history");
  return traces;
}

TEST_CASE(
    "the trace from which on a place takes longer is named, and the place that did not is not") {
  const test::TemporaryDirectory directory;
  std::vector<std::string> traces;
  for (int night = 0; night < 14; ++night)
    traces.push_back(
        trace_of(directory, night, (night < 7 ? 200 : 400) + static_cast<unsigned>(night * 3 % 5)));
  auto arguments = history_of(traces);
  const std::string text = output_of(arguments);
  CHECK(text.contains("night-7.sjt on"));
  CHECK_FALSE(text.contains("too little data"));
  arguments.emplace_back("--json");
  const json said = json::parse(output_of(arguments));
  for (const json& series : said["series"]) {
    CAPTURE(series.dump());
    if (series["name"] == "a") {
      CHECK(series["changes"].empty());
      continue;
    }
    REQUIRE(series["changes"].size() == 1);
    CHECK(series["changes"][0]["at"] == 7);
    CHECK(series["changes"][0]["after_us"] > series["changes"][0]["before_us"]);
  }
}

// Packets of a line of queues; from the packet `slow_from` on, the second stage takes longer.
std::string long_trace(const test::TemporaryDirectory& directory, std::uint64_t seed,
                       unsigned slow_from) {
  constexpr unsigned kPackets = 20'000;
  const auto queues = differential::make_queues(seed, kPackets, 0.3, 2);
  std::vector<std::pair<std::uint64_t, std::string>> lines;
  for (unsigned packet = 0; packet < kPackets; ++packet) {
    std::uint64_t at_us = 1'000'000 + packet * 350ULL;
    const auto add = [&](const char* point) {
      lines.emplace_back(at_us, fmt::format("{}.{:06} D {} len100:rnti1:sn{}\n", at_us / 1'000'000,
                                            at_us % 1'000'000, point, packet));
    };
    add("in--a");
    at_us += static_cast<std::uint64_t>(queues.stays[0][packet]) + 1;
    add("a--b");
    at_us += static_cast<std::uint64_t>(queues.stays[1][packet]) + (packet < slow_from ? 1 : 60);
    add("b--out");
  }
  std::ranges::stable_sort(lines, {}, &std::pair<std::uint64_t, std::string>::first);
  std::string text;
  for (const auto& [us, line] : lines) text += line;
  const std::string name = directory.path(fmt::format("long-{}", seed));
  test::write_contents(name + ".lseq", text);
  REQUIRE(sojourn({"import", name + ".lseq", "-o", name + ".sjt"}).exit_code == 0);
  return name + ".sjt";
}

TEST_CASE("within one trace the time is named from which on a place takes longer") {
  const test::TemporaryDirectory directory;
  const std::string trace = long_trace(directory, 1, 12'000);
  const std::string text = output_of({"history", trace});
  CHECK(text.contains("long-1.sjt (7.0 s): means of blocks"));
  CHECK(text.contains(" s on (p 0.0001)"));
  const json said = json::parse(output_of({"history", trace, "--json"}));
  REQUIRE(said["series"].size() == 3);
  for (const json& series : said["series"]) {
    CAPTURE(series.dump());
    CHECK(series["mean_us"].size() >= said["blocks_needed"]);
    CHECK(series["mean_us"].size() * series["packets_per_block"].get<std::size_t>() <= 20'000);
    if (series["name"] == "a") {
      CHECK(series["changes"].empty());
      continue;
    }
    REQUIRE(series["changes"].size() == 1);
    // Packet 12,000 comes after 4.2 s.
    CHECK(series["changes"][0]["at_s"] > 4.2 - 0.25);
    CHECK(series["changes"][0]["at_s"] < 4.2 + 0.25);
    CHECK(series["changes"][0]["after_us"] > series["changes"][0]["before_us"]);
  }
}

TEST_CASE("a trace in which nothing changes has no change, and a short one too little data") {
  const test::TemporaryDirectory directory;
  const std::string text = output_of({"history", long_trace(directory, 2, UINT_MAX)});
  CHECK(text.contains("none seen"));
  CHECK_FALSE(text.contains(" s on "));
  CHECK(output_of({"history", trace_of(directory, 1, 200)}).contains("too little data"));
}

TEST_CASE("few traces are reported as too few, and are not refused") {
  const test::TemporaryDirectory directory;
  const std::string first = trace_of(directory, 1, 200);
  const std::string second = trace_of(directory, 2, 900);
  CHECK(output_of(history_of({first, second})).contains("too little data"));
  CHECK(sojourn(history_of({})).exit_code == 2);
}

}  // namespace
}  // namespace sojourn::cli_tests
