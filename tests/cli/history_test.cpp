// `sojourn history`: from which trace on a latency is another one.
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

using nlohmann::json;

// Packets that take 100 us in `a` and so long in `b`, give or take.
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

TEST_CASE("few traces are said to be too few, and one is refused") {
  const test::TemporaryDirectory directory;
  const std::string first = trace_of(directory, 1, 200);
  const std::string second = trace_of(directory, 2, 900);
  CHECK(output_of(history_of({first, second})).contains("too little data"));
  CHECK(sojourn(history_of({first})).exit_code == 2);
}

}  // namespace
}  // namespace sojourn::cli_tests
