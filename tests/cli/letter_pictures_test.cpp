// Pictures of letters: journeys --waterfall and report --plot.
#include <algorithm>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

using nlohmann::json;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST_CASE("a waterfall has a lane for each place that the packet was in, in 100 columns") {
  const Traces traces;
  const std::string radio = traces.path("radio");
  const json journey = json::parse(output_of(
      {"journeys", radio, "--json", "--limit", "1", "--where", "dir == D && segments > 1"}));
  const std::string text =
      output_of({"journeys", radio, "--waterfall", "--id", journey["id"].dump()});
  const auto lines = lines_of(text);
  for (const std::string& line : lines) {
    CHECK(line.size() <= 100);
    CHECK(!line.ends_with(' '));
  }
  std::map<std::string, std::size_t> stays;  // by place
  for (const json& event : journey["events"]) stays[event["src"]] += event["parents"].size();
  for (const auto& [place, number] : stays) {
    if (number == 0) continue;
    const auto lane = std::ranges::find_if(
        lines, [&](const std::string& line) { return line.starts_with("  " + place + " "); });
    INFO(place);
    REQUIRE(lane != lines.end());
    CHECK(lane->find_first_of("#=%") != std::string::npos);
  }
  CHECK(text.starts_with("journey " + journey["id"].dump() + "  D rnti"));
  CHECK(text.contains("^ whole"));
  CHECK(sojourn({"journeys", radio, "--waterfall", "--json"}).exit_code == 2);
}

TEST_CASE("a waterfall marks repeated transmissions") {
  const Traces traces;
  const std::string text = output_of(
      {"journeys", traces.path("radio"), "--waterfall", "--where", "retransmissions > 0"});
  CHECK(text.contains('%'));
  const std::string others = output_of(
      {"journeys", traces.path("radio"), "--waterfall", "--where", "retransmissions == 0"});
  CHECK(others.contains('#'));
  CHECK(!others.contains('%'));
}

TEST_CASE("a plot shows each direction that has packets, in 100 columns") {
  const Traces traces;
  const std::string radio = traces.path("radio");
  const json report = json::parse(output_of({"report", radio, "--json"}));
  const std::string text = output_of({"report", radio, "--plot"});
  for (const std::string& line : lines_of(text)) CHECK(line.size() <= 100);
  for (const auto& [direction, name] :
       std::map<std::string, std::string>{{"D", "Downlink"}, {"U", "Uplink"}}) {
    const auto timed = report["journeys"][direction]["latency_us"]["count"];
    CHECK(text.contains(name + ": latency over arrival time, "));
    CHECK(timed != 0);
  }
  CHECK(text.contains("How many packets took longer than a time"));
  const std::string none = output_of({"report", radio, "--plot", "--where", "rnti == 0xfffe"});
  CHECK(none.contains("no packet has a latency"));
  CHECK(sojourn({"report", radio, "--plot", "--json"}).exit_code == 2);
  CHECK(sojourn({"report", radio, "--plot", "--by", "ue"}).exit_code == 2);
}

}  // namespace
}  // namespace sojourn::cli_tests
