// report --raw, and the report's words about times without those of tracing.
#include <cmath>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

TEST_CASE("times are without the time of tracing, and as measured on request") {
  const Traces traces;
  const std::string net = output_of({"report", traces.path("traced")});
  CHECK(
      net.contains("times are without what tracing took: 16.7 % of D's latency, more than a tenth "
                   "of the time in 2 places (500 ns a hit, +- 5.0 %); --raw: as measured\n"));
  CHECK(net.contains("  max  tracing\n"));
  const std::string raw = output_of({"report", traces.path("traced"), "--raw"});
  CHECK(raw.contains("times include what tracing took: 16.7 % of D's latency, "));
  CHECK_FALSE(raw.contains("  max  tracing\n"));
  CHECK(net != raw);
}

TEST_CASE("programs are given both times") {
  const Traces traces;
  const auto report = nlohmann::json::parse(output_of({"report", traces.path("traced"), "--json"}));
  const auto& down = report.at("journeys").at("D");
  CHECK(down.at("latency_us").at("p50") == 6.0);
  CHECK(down.at("net_latency_us").at("p50") == 5.0);
  const auto& first = report.at("hops").at(0);
  CHECK(first.at("at") == "a");
  CHECK(first.at("latency_us").at("max") == 2.0);
  CHECK(first.at("net_latency_us").at("max") == 1.5);
  CHECK(first.at("tracing_share") == 0.25);
  CHECK(report.at("tracing").at("points").at(0).at("hit_spread_ns") == 25.0);
}

TEST_CASE("stays as short as the error of a hit's cost have no share of tracing") {
  const Traces traces;
  const std::string text = output_of({"report", traces.path("short_stays")});
  CAPTURE(text);
  CHECK(text.contains(
      "24.4 % of D's latency, more than a tenth of the time in 1 place (11 ns a hit, "));
  const auto row = [&](const std::string& begin) {
    const std::size_t at = text.find("\n  " + begin + " ");
    REQUIRE(at != std::string::npos);
    return text.substr(at + 1, text.find('\n', at + 1) - at - 1);
  };
  CHECK(row("a").ends_with(" -"));
  CHECK(row("b").ends_with(" 14.1 %"));
  const auto hops =
      nlohmann::json::parse(output_of({"report", traces.path("short_stays"), "--json"})).at("hops");
  CHECK(hops.at(0).at("tracing_share").is_null());
  CHECK(hops.at(0).at("net_latency_us").at("p50") == 0.001);
  CHECK(std::abs(hops.at(1).at("tracing_share").get<double>() - 11.0 / 78) < 1e-12);
}

TEST_CASE("a place with several ways in is one row of the table, and is counted once") {
  const Traces traces;
  const std::string text = output_of({"report", traces.path("two_entries")});
  CAPTURE(text);
  CHECK(text.contains("more than a tenth of the time in 1 place (500 ns a hit, "));
  CHECK(text.contains("\n  a "));
  const auto report =
      nlohmann::json::parse(output_of({"report", traces.path("two_entries"), "--json"}));
  REQUIRE(report.at("hops").size() == 2);
  for (const auto& hop : report.at("hops")) CHECK(hop.at("tracing_share") == 0.25);
}

TEST_CASE("a trace without the cost of hits has its times as measured") {
  const Traces traces;
  const std::string text = output_of({"report", traces.path("radio")});
  CHECK_FALSE(text.contains("tracing took"));
  CHECK(text == output_of({"report", traces.path("radio"), "--raw"}));
  const auto report = nlohmann::json::parse(output_of({"report", traces.path("radio"), "--json"}));
  CHECK_FALSE(report.at("journeys").at("D").contains("net_latency_us"));
}

}  // namespace
}  // namespace sojourn::cli_tests
