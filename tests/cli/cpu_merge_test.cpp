// merge --cpus, on a program whose CPUs' clocks disagree. The truth is known: its trace is written
// by the two clocks.
#include <cmath>
#include <cstdint>
#include <random>
#include <string>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/cli/programs.h"
#include "tests/golden/fixture.h"

namespace sojourn::cli_tests {
namespace {

using nlohmann::json;

// One program on two CPUs, the second of whose clock is ahead: packets go to it and come back.
std::string on_two_cpus(const test::TemporaryDirectory& directory, double ahead_ns,
                        bool both_ways = true) {
  std::mt19937_64 random(4);
  std::exponential_distribution<double> queued(1 / 2000.0);
  std::string text = "target gnb 4242\ncapture 900000 3000000000 1 1\n";
  for (const char* const point :
       {"D app.in--tx", "D tx--wire", "D wire--out", "U in--tx", "U tx--air", "U air--app.out"})
    text += fmt::format("point {} len:flow.sn\n", point);
  const auto hit = [&](unsigned cpu, double now, const char* point, unsigned sn) {
    text += fmt::format("{} {} {} {} 100 1 {}\n",
                        static_cast<std::uint64_t>(1e7 + now + (cpu == 1 ? ahead_ns : 0)), cpu,
                        70 + cpu, point, sn);
  };
  for (unsigned sn = 0; sn < 1000; ++sn) {
    const double now = 2e6 * sn;
    hit(0, now, "D app.in--tx", sn);
    hit(0, now + 100, "D tx--wire", sn);
    hit(1, now + 300 + queued(random), "D wire--out", sn);
    if (!both_ways) continue;
    hit(1, now + 1e6, "U in--tx", sn);
    hit(1, now + 1e6 + 100, "U tx--air", sn);
    hit(0, now + 1e6 + 300 + queued(random), "U air--app.out", sn);
  }
  const std::string fixture = directory.path("cpus.events");
  test::write_contents(fixture, text);
  const std::string trace = directory.path("cpus.sjt");
  const auto written = golden::write_trace(fixture, trace);
  if (!written) FAIL(written.error().text());
  return trace;
}

TEST_CASE("CPUs whose clocks disagree are found by packets between them, and corrected") {
  for (const double ahead_ns : {0.0, 400'000.0, -3'000'000.0}) {
    CAPTURE(ahead_ns);
    const test::TemporaryDirectory directory;
    const std::string trace = on_two_cpus(directory, ahead_ns);
    const std::string merged = directory.path("merged.sjt");
    const json told = json::parse(output_of({"merge", "--cpus", trace, "-o", merged, "--json"}));
    REQUIRE(told["cpus"].size() == 2);
    CHECK(told["cpus"][0]["cpu"] == 0);
    const json& second = told["cpus"][1];
    CHECK(second["packets_sent"] == 1000);
    CHECK(second["packets_received"] == 1000);
    CHECK(second["ahead_low_ns"] <= ahead_ns);
    CHECK(second["ahead_high_ns"] >= ahead_ns);
    const double bound_ns = second["bound_ns"];
    CHECK(bound_ns < 300);
    const double left_ns = ahead_ns + second["corrected_by_ns"].get<double>();
    CHECK(std::abs(left_ns) <= bound_ns);
    if (ahead_ns == 0) CHECK(second["corrected_by_ns"] == 0);

    CHECK(sojourn({"check", merged}).exit_code == 0);
    const json report = json::parse(output_of({"report", merged, "--json"}));
    for (const char* const direction : {"D", "U"}) {
      CAPTURE(direction);
      const json& journeys = report["journeys"][direction];
      CHECK(journeys["complete"] == 1000);
      CHECK(journeys["latency_us"]["mean"].get<double>() ==
            Catch::Approx(2.3).margin(0.2 + bound_ns / 1e3));
    }
    CHECK(json::parse(output_of({"check", merged, "--json"}))["stamp_error_ns"] >=
          static_cast<std::uint64_t>(bound_ns));
  }
}

TEST_CASE("merge reports CPUs whose clocks it cannot compare") {
  const test::TemporaryDirectory directory;
  const std::string merged = directory.path("merged.sjt");
  const std::string one_way = on_two_cpus(directory, 400'000, false);
  CHECK(output_of({"merge", "--cpus", one_way, "-o", merged})
            .contains("left open: packets of one direction"));
  const auto alone = sojourn({"merge", one_way, "-o", merged});
  CHECK(alone.exit_code == 2);
  CHECK(alone.err.contains("--cpus"));
  // Streams of threads.
  const std::string fixture = directory.path("rings.events");
  test::write_contents(fixture, "ring 0\n" + test::contents(directory.path("cpus.events")));
  const std::string rings = directory.path("rings.sjt");
  REQUIRE(golden::write_trace(fixture, rings));
  const auto refused = sojourn({"merge", "--cpus", rings, "-o", merged});
  CHECK(refused.exit_code == 1);
  CHECK(refused.err.contains("its events do not name their CPUs"));
}

}  // namespace
}  // namespace sojourn::cli_tests
