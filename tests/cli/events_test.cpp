// `sojourn events`: which events are printed, in which order, and how.
#include <algorithm>
#include <sstream>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::vector<nlohmann::json> objects;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) objects.push_back(nlohmann::json::parse(line));
  return objects;
}

TEST_CASE("events are printed in time order with their fields by name") {
  const Traces traces;
  compare("radio.events.txt", output_of({"events", traces.path("radio")}));
  compare("radio.events.jsonl", output_of({"events", traces.path("radio"), "--json"}));
}

TEST_CASE("events are selected by point, direction, thread and stream, and all must agree") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  const auto all = json_lines(output_of({"events", trace, "--json"}));
  const auto chosen = [&](auto wanted) { return std::ranges::count_if(all, wanted); };
  const auto printed = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"events", trace, "--json"});
    return static_cast<std::ptrdiff_t>(json_lines(output_of(std::move(options))).size());
  };
  const auto tid = all.front()["tid"].get<std::uint32_t>();
  const auto of_thread = chosen([&](const auto& event) { return event["tid"] == tid; });
  REQUIRE(of_thread > 0);
  REQUIRE(of_thread < static_cast<std::ptrdiff_t>(all.size()));
  CHECK(printed({"--tid", std::to_string(tid)}) == of_thread);
  CHECK(printed({"--points", "pdcp.in--*"}) ==
        chosen([](const auto& event) { return event["src"] == "pdcp.in"; }));
  CHECK(printed({"--points", "U *"}) ==
        chosen([](const auto& event) { return event["dir"] == "U"; }));
  CHECK(printed({"--points", "U *", "--tid", std::to_string(tid)}) ==
        chosen([&](const auto& event) { return event["dir"] == "U" && event["tid"] == tid; }));
  CHECK(printed({"--stream", "0"}) ==
        chosen([](const auto& event) { return event["stream"] == 0; }));
  CHECK(printed({"--limit", "3"}) == 3);
}

TEST_CASE("times count from the capture's first mark, or are the monotonic clock's") {
  const Traces traces;
  const std::string trace = traces.path("lossy");
  const auto relative = json_lines(output_of({"events", trace, "--json"}));
  const auto monotonic = json_lines(output_of({"events", trace, "--json", "--time", "mono"}));
  REQUIRE(relative.size() == monotonic.size());
  CHECK(relative.front()["t_ns"] == 500);
  CHECK(monotonic.front()["t_ns"] == 1'000'500);
}

TEST_CASE("wall time is refused where the trace does not know it") {
  const Traces traces;
  require_error(sojourn({"events", traces.path("lossy"), "--time", "wall"}), "clock pairs");
}

TEST_CASE("a pattern that no point matches is an error, not an empty answer") {
  const Traces traces;
  require_error(sojourn({"events", traces.path("lossy"), "--points", "nothing.*"}), "nothing.*");
}

}  // namespace
}  // namespace sojourn::cli_tests
