// report --cdf, and deadlines in slots.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

using nlohmann::json;

std::vector<std::uint64_t> latencies(const std::string& trace, const std::string& direction) {
  std::vector<std::uint64_t> found;
  std::istringstream lines(output_of({"journeys", trace, "--dir", direction, "--json"}));
  for (std::string line; std::getline(lines, line);) {
    const json journey = json::parse(line);
    if (journey["complete"].get<bool>()) found.push_back(journey["latency_ns"]);
  }
  std::ranges::sort(found);
  return found;
}

// 400 packets that leave their slot's event behind, one every 250 us.
std::string slotted(const test::TemporaryDirectory& directory, unsigned every) {
  std::string text;
  for (unsigned i = 0; i < 400; ++i) {
    const unsigned us = 1000 + i * 250;
    text += fmt::format("1700000000.{:06} D in--a len9:rnti1:sn{}.slot{}\n", us, i, i / every % 20);
    text += fmt::format("1700000000.{:06} D a--out len9:rnti1:sn{}.slot{}\n",
                        us + 100 + (i % 4) * 100, i, i / every % 20);
  }
  const std::string recording = directory.path("slots.lseq");
  test::write_contents(recording, text);
  const std::string trace = directory.path("slots.sjt");
  REQUIRE(sojourn({"import", recording, "-o", trace}).exit_code == 0);
  return trace;
}

TEST_CASE("points of cumulative distributions of some journeys say of which") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  const json told =
      json::parse(output_of({"report", trace, "--cdf", "json", "--where", "dir == U"}));
  CHECK(told["where"]["expression"] == "dir == U");
  REQUIRE_FALSE(told["cdf"].empty());
  for (const json& curve : told["cdf"]) CHECK(curve["dir"] == "U");
  CHECK(told["cdf"][0]["count"] == latencies(trace, "U").size());
  CHECK(output_of({"report", trace, "--cdf", "text", "--where", "dir == U"})
            .starts_with("only the " + std::to_string(told["where"]["journeys"].get<int>()) +
                         " of "));
}

TEST_CASE("points of cumulative distributions are those of the journeys") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  const json told = json::parse(output_of({"report", trace, "--cdf", "json"}));
  std::size_t directions = 0;
  for (const json& curve : told["cdf"]) {
    double before_us = 0;
    double before_share = 0;
    for (const json& point : curve["points"]) {
      CHECK(point["us"] > before_us);
      CHECK(point["at_most"] > before_share);
      before_us = point["us"];
      before_share = point["at_most"];
    }
    CHECK(before_share == 1);
    if (curve["name"] != "latency") continue;
    ++directions;
    const auto all = latencies(trace, curve["dir"]);
    REQUIRE(curve["count"] == all.size());
    for (const json& point : curve["points"]) {
      const double limit_ns = std::round(point["us"].get<double>() * 1e3);
      const auto below = std::ranges::count_if(
          all, [&](std::uint64_t ns) { return static_cast<double>(ns) <= limit_ns; });
      const auto size = static_cast<double>(all.size());
      CHECK(point["at_most"] == Catch::Approx(static_cast<double>(below) / size));
      CHECK(point["longer"] == Catch::Approx(1 - static_cast<double>(below) / size).margin(1e-9));
    }
  }
  CHECK(directions == 2);
  CHECK(told["cdf"].size() > 10);
}

TEST_CASE("the same points are a table for scripts, and a short one for people") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  const json told = json::parse(output_of({"report", trace, "--by", "bearer", "--cdf", "json"}));
  CHECK(told["by"] == "bearer");
  std::size_t points = 0;
  for (const json& curve : told["cdf"]) points += curve["points"].size();
  const std::string csv = output_of({"report", trace, "--by", "bearer", "--cdf", "csv"});
  CHECK(csv.starts_with("dir,name,samples,us,at_most,longer\nD,\"rnti "));
  CHECK(static_cast<std::size_t>(std::ranges::count(csv, '\n')) == points + 1);
  compare("radio.cdf.txt", output_of({"report", trace, "--cdf", "text"}));
  // Events have gaps instead of durations.
  CHECK(
      !json::parse(output_of({"report", trace, "--by", "point", "--cdf", "json"}))["cdf"].empty());
  CHECK(sojourn({"report", trace, "--cdf", "json", "--json"}).exit_code == 2);
  CHECK(sojourn({"report", trace, "--cdf", "runes"}).exit_code == 2);
  CHECK(sojourn({"report", trace, "--cdf", "csv", "--deadline", "1ms"}).exit_code == 2);
}

TEST_CASE("a deadline in slots takes their length from the events that name them") {
  const test::TemporaryDirectory directory;
  for (const unsigned every : {1U, 2U, 4U}) {
    CAPTURE(every);
    const std::string trace = slotted(directory, every);
    const test::Ended told = sojourn({"report", trace, "--deadline", "slot", "--json"});
    REQUIRE(told.exit_code == 0);
    CHECK(told.err.starts_with("a slot is "));
    const json report = json::parse(told.out);
    CHECK(report["deadline"]["us"] == 250.0 * every);
    // 100, 200, 300 and 400 us, a quarter each.
    CHECK(report["deadline"]["D"]["late"] == (every == 1 ? 200 : 0));
    const json twice =
        json::parse(sojourn({"report", trace, "--deadline", "1.4slots", "--json"}).out);
    CHECK(twice["deadline"]["us"] == 350.0 * every);
  }
}

TEST_CASE("packets that took longer than slots are explained") {
  const test::TemporaryDirectory directory;
  const std::string trace = slotted(directory, 1);
  const test::Ended told = sojourn({"explain", trace, "--deadline", "slot", "--json"});
  REQUIRE(told.exit_code == 0);
  CHECK(told.err.starts_with("a slot is 250 us: measured between "));
  const json causes = json::parse(told.out);
  CHECK(causes["deadline_ns"]["D"] == 250'000);
  CHECK(causes["deadline_ns"]["given"] == true);
  CHECK(causes["late"] == 200);
  const test::Ended said =
      sojourn({"explain", trace, "--deadline", "3slots", "--slot", "0.1ms", "--json"});
  CHECK(said.err.empty());
  CHECK(json::parse(said.out)["late"] == 100);
}

TEST_CASE("where nothing names slots, their length must be said") {
  const Traces traces;
  const std::string trace = traces.path("lossy");
  require_error(sojourn({"report", trace, "--deadline", "slot"}), "--slot 500us");
  const json told = json::parse(
      output_of({"report", trace, "--deadline", "2slots", "--slot", "62.5us", "--json"}));
  CHECK(told["deadline"]["us"] == 125.0);
  CHECK(sojourn({"report", trace, "--slot", "500us"}).exit_code == 2);
  CHECK(sojourn({"report", trace, "--deadline", "0slots"}).exit_code == 2);
  CHECK(sojourn({"report", trace, "--deadline", "slot", "--slot", "long"}).exit_code == 2);
  require_error(sojourn({"explain", trace, "--deadline", "slot"}), "--slot 500us");
  CHECK(sojourn({"explain", trace, "--slot", "500us"}).exit_code == 2);
}

TEST_CASE("journeys can be asked for by number") {
  const Traces traces;
  const std::string trace = traces.path("radio");
  std::vector<std::string> all;
  std::istringstream lines(output_of({"journeys", trace, "--json"}));
  for (std::string line; std::getline(lines, line);) all.push_back(line);
  const auto id = [&](std::size_t at) { return json::parse(all[at])["id"].dump(); };
  CHECK(output_of({"journeys", trace, "--id", id(3), "--json"}) == all[3] + "\n");
  CHECK(output_of({"journeys", trace, "--id", id(7) + "," + id(2) + "," + id(7), "--json"}) ==
        all[2] + "\n" + all[7] + "\n");
  require_error(sojourn({"journeys", trace, "--id", "999999"}), "there is no journey 999999");
  CHECK(sojourn({"journeys", trace, "--id", "1", "--worst", "2"}).exit_code == 2);
  CHECK(sojourn({"journeys", trace, "--id", "one"}).exit_code == 2);
}

}  // namespace
}  // namespace sojourn::cli_tests
