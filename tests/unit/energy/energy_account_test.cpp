// The zones that count: each joule counts once, and only if it was measured.
#include "analysis/energy/energy_account.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "analysis/present/energy/energy_text.h"
#include "tests/unit/energy/readings.h"

namespace sojourn::energy {
namespace {

using namespace test;
using Catch::Approx;

// Two packages with their DRAM, cores of the first, the whole machine, and package 0 once more.
Readings server() {
  Readings readings;
  readings.steady(readings.zone("intel-rapl:0", "package-0", "package-0"), 50);
  readings.steady(readings.zone("intel-rapl:0:0", "core", "package-0"), 30);
  readings.steady(readings.zone("intel-rapl:0:1", "dram", "package-0"), 4);
  readings.steady(readings.zone("intel-rapl:1", "package-1", "package-1"), 40);
  readings.steady(readings.zone("intel-rapl:1:0", "dram", "package-1"), 6);
  readings.steady(readings.zone("intel-rapl:2", "psys", ""), 150);
  readings.steady(readings.zone("intel-rapl-mmio:0", "package-0", "package-0"), 51);
  return readings;
}

TEST_CASE("the total is that of packages and DRAM, without zones that repeat or contain them") {
  const EnergyFigures figures = server().figures();
  REQUIRE(figures.watts);
  CHECK(*figures.watts == Approx(100));
  CHECK(*figures.joules() == Approx(1000));
  CHECK(figures.has_dram);
  CHECK(*domain_in(figures, Domain::kPackage)->watts == Approx(90));
  CHECK(*domain_in(figures, Domain::kCore)->watts == Approx(30));
  CHECK(*domain_in(figures, Domain::kDram)->watts == Approx(10));
  CHECK(*domain_in(figures, Domain::kPsys)->watts == Approx(150));
  CHECK(domain_in(figures, Domain::kUncore) == nullptr);
  const ZoneEnergy& repeated = zone_at(figures, "intel-rapl-mmio:0");
  CHECK(repeated.is_measured());
  CHECK(repeated.aside == "repeats intel-rapl:0");
}

TEST_CASE("if the kernel's registers may not be read, their copy in memory counts") {
  Readings readings = server();
  readings.about(0).missing = "may not be read: Permission denied: root may";
  const EnergyFigures figures = readings.figures();
  REQUIRE(figures.watts);
  CHECK(*figures.watts == Approx(101));
  CHECK(zone_at(figures, "intel-rapl-mmio:0").aside.empty());
  CHECK(zone_at(figures, "intel-rapl:0").aside == "repeats intel-rapl-mmio:0");
}

TEST_CASE("a package that vanished leaves no total, with the reason") {
  Readings readings = server();
  readings.about(3).missing = "vanished";
  readings.about(3).gone_ns = 13 * kSecond;
  const EnergyFigures figures = readings.figures();
  CHECK_FALSE(figures.watts);
  CHECK_FALSE(figures.joules());
  CHECK(figures.why_not == "package-1 vanished after 3.0 s");
  CHECK_FALSE(domain_in(figures, Domain::kPackage)->watts);
  CHECK(*domain_in(figures, Domain::kDram)->watts == Approx(10));
}

TEST_CASE("perf's counters count if powercap has no readable one") {
  Readings readings;
  readings.steady(readings.perf_zone("power/energy-pkg on cpu 0", "package-0", "package-0"), 20);
  readings.steady(readings.perf_zone("power/energy-ram on cpu 0", "dram", "package-0"), 3);
  const std::uint32_t powercap = readings.zone("intel-rapl:0", "package-0", "package-0");
  readings.about(powercap).missing = "may not be read";
  CHECK(*readings.figures().watts == Approx(23));
  readings.about(powercap).missing.clear();
  readings.steady(powercap, 21);
  const EnergyFigures figures = readings.figures();
  CHECK(*figures.watts == Approx(24));
  CHECK(zone_at(figures, "power/energy-pkg on cpu 0").aside == "repeats intel-rapl:0");
}

TEST_CASE("on AMD the cores' counters add up, and powercap's core is not taken for all of them") {
  Readings readings;
  readings.steady(readings.zone("intel-rapl:0", "package-0", "package-0"), 60);
  readings.steady(readings.zone("intel-rapl:0:0", "core", "package-0"), 3);
  for (const char* place : {"power_core/energy-core on cpu 0", "power_core/energy-core on cpu 1"})
    readings.steady(readings.perf_zone(place, "core", "package-0"), 5);
  const EnergyFigures figures = readings.figures("AMD EPYC 9654");
  CHECK(*domain_in(figures, Domain::kCore)->watts == Approx(10));
  CHECK(zone_at(figures, "intel-rapl:0:0").aside.contains("one core only"));
  CHECK_FALSE(figures.has_dram);
  CHECK(*figures.watts == Approx(60));
}

TEST_CASE("a machine without counters is not measured, never 0, and says why") {
  Readings readings;
  readings.about().missing = {{.host = {}, .what = "powercap", .why = "no zones"},
                              {.host = {}, .what = "perf", .why = "no events"},
                              {.host = {}, .what = "frequency", .why = "no policies"}};
  const EnergyFigures figures = readings.figures();
  CHECK_FALSE(figures.watts);
  CHECK(figures.why_not == "no zones; no events");
  const present::EnergyContent content = {.figures = figures, .packets = PacketEnergy()};
  const auto told = present::energy_json(&content);
  CHECK(told["measured"] == false);
  CHECK(told["joules"].is_null());
  CHECK(told["watts"].is_null());
  CHECK(told["joules_a_packet"].is_null());
  CHECK(told["D"]["energy_delay2_js2"].is_null());
  const std::string text = present::energy_text(content);
  CHECK(text.contains("energy not measured: no zones; no events"));
  CHECK(text.contains("not measured: frequency: no policies"));
  CHECK_FALSE(text.contains("0 J"));
}

TEST_CASE("a zone that was read for a part of the capture only is not measured") {
  Readings readings;
  const std::uint32_t zone = readings.zone("intel-rapl:0", "package-0", "package-0");
  readings.read(zone, 10, 0);
  readings.read(zone, 15, 100'000'000);
  const EnergyFigures figures = readings.figures();
  CHECK_FALSE(figures.watts);
  CHECK(zone_at(figures, "intel-rapl:0").why_not == "was read for 5.0 of 10.0 s only");
  const std::uint32_t never = readings.zone("intel-rapl:1", "package-1", "package-1");
  CHECK(zone_at(readings.figures(), readings.about(never).place).why_not == "was not read twice");
}

TEST_CASE("hosts of a merged trace add up, and one without energy leaves no total") {
  Readings readings;
  for (const char* host : {"du", "cu"}) {
    const std::uint32_t zone = readings.zone("intel-rapl:0", "package-0", "package-0");
    readings.about(zone).host = host;
    readings.steady(zone, 30);
  }
  const EnergyFigures both = readings.figures();
  CHECK(*both.watts == Approx(60));
  for (const ZoneEnergy& zone : both.zones) CHECK(zone.aside.empty());
  readings.about().missing = {{.host = "ru", .what = "energy", .why = "was not recorded there"}};
  const EnergyFigures lacking = readings.figures();
  CHECK_FALSE(lacking.watts);
  CHECK(lacking.why_not == "ru: was not recorded there");
}

TEST_CASE("idle states are a share of all CPUs' time, and settings are named") {
  Readings readings;
  readings.about().idle_states = {{.id = 0, .host = {}, .name = "C6", .cpus = 4}};
  readings.about().policies = {{.id = 0,
                                .host = {},
                                .cpus = "0-3",
                                .governor = "powersave",
                                .least_khz = 800'000,
                                .most_khz = 3'500'000}};
  readings.idle(0, 10, 0);
  readings.idle(0, 20, 20'000'000);  // 20 of 40 s
  readings.frequency(0, 12, 2'000'000);
  EnergyFigures figures = readings.figures();
  REQUIRE(figures.idle.size() == 1);
  CHECK(*figures.idle[0].share == Approx(0.5));
  CHECK(present::frequency_setting(figures.policies) == "0.80 to 3.50 GHz, powersave");
  figures.policies[0].about.least_khz = 3'500'000;
  CHECK(present::frequency_setting(figures.policies) == "3.50 GHz");
  figures.policies.push_back(figures.policies.front());
  figures.policies[1].about.most_khz = 2'000'000;
  CHECK(present::frequency_setting(figures.policies) == "different ones");
  CHECK(present::frequency_setting({}) == "-");
}

TEST_CASE("quantities have three digits and a prefix") {
  CHECK(present::scaled(0.00312, "J") == "3.12 mJ");
  CHECK(present::scaled(31.24, "W") == "31.2 W");
  CHECK(present::scaled(2.4e9, "Hz") == "2.40 GHz");
  CHECK(present::scaled(0.99996, "J") == "1.00 J");
  CHECK(present::scaled(312.4, "J") == "312 J");
  CHECK(present::scaled(4.2e-7, "J") == "420 nJ");
}

}  // namespace
}  // namespace sojourn::energy
