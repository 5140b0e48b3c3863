// The stays in a place as `sojourn report --json` sums them up: the stays of all its hops.
#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

using nlohmann::json;

// A place's hops, but for those by which its units were dropped.
std::vector<json> hops_of(const json& report, const json& place) {
  std::vector<json> hops;
  for (const json& hop : report["hops"])
    if (hop["dir"] == place["dir"] && hop["at"] == place["name"] && hop["to"] != "drop")
      hops.push_back(hop);
  return hops;
}

void check_is_sum(const json& stays, const std::vector<json>& hops) {
  double count = 0;
  double sum_us = 0;
  for (const json& hop : hops) {
    count += hop["count"].get<double>();
    sum_us += hop["count"].get<double>() * hop["latency_us"]["mean"].get<double>();
  }
  CHECK(stays["mean"].get<double>() == Catch::Approx(sum_us / count));
  const auto by = [&](const char* const figure) {
    return [figure](const json& one, const json& other) {
      return one["latency_us"][figure] < other["latency_us"][figure];
    };
  };
  CHECK(stays["min"] == std::ranges::min(hops, by("min"))["latency_us"]["min"]);
  CHECK(stays["max"] == std::ranges::max(hops, by("max"))["latency_us"]["max"]);
  CHECK(stays["p50"] >= std::ranges::min(hops, by("p50"))["latency_us"]["p50"]);
  CHECK(stays["p50"] <= std::ranges::max(hops, by("p50"))["latency_us"]["p50"]);
}

TEST_CASE("the stays in a place are those of all hops that lead through it") {
  const Traces traces;
  const json report = json::parse(output_of({"report", traces.path("radio"), "--json"}));
  std::size_t of_several = 0;
  for (const json& place : report["queues"]) {
    CAPTURE(place["name"], place["dir"]);
    const std::vector<json> hops = hops_of(report, place);
    if (hops.empty()) {
      CHECK(place["stay_us"].is_null());
      continue;
    }
    check_is_sum(place["stay_us"], hops);
    if (hops.size() == 1) CHECK(place["stay_us"] == hops[0]["latency_us"]);
    if (hops.size() > 1) ++of_several;
  }
  CHECK(of_several == 4);
}

TEST_CASE("places stand in the order in which packets come through them, in JSON as in the text") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  const json report = json::parse(output_of({"report", trace, "--json"}));
  const std::string text = output_of({"report", trace});
  std::size_t at = 0;
  for (const json& place : report["queues"]) {
    CAPTURE(place["name"], place["dir"]);
    at = text.find("\n  " + place["name"].get<std::string>() + " ", at);
    REQUIRE(at != std::string::npos);
  }
}

}  // namespace
}  // namespace sojourn::cli_tests
