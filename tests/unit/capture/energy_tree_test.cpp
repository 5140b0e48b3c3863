// The energy readings of several machines, from files that were written by hand: a server, a
// desktop, AMD, one without any, and ones with false data.
#include "userspace/capture/energy/energy_tree.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include "tests/support/sys_tree.h"

namespace sojourn::capture {
namespace {

using Catch::Approx;
using test::SysTree;

constexpr const char* kPower = "bus/event_source/devices/power/";

const model::EnergyZone& zone_at(const EnergyTree& tree, const std::string& place) {
  for (const PowercapZone& zone : tree.zones)
    if (zone.about.place == place) return zone.about;
  for (const PowerEvent& event : tree.events)
    if (event.about.place == place) return event.about;
  FAIL("no zone " << place);
  return tree.zones.front().about;
}

bool lacks(const EnergyTree& tree, const std::string& what) {
  return std::ranges::any_of(tree.missing, [&](const model::EnergyMissing& missing) {
    return missing.what == what && !missing.why.empty();
  });
}

void add_event(SysTree& tree, const std::string& name, const std::string& event,
               const std::string& scale = "2.3283064365386962890625e-10") {
  tree.file(std::string(kPower) + "events/" + name, event)
      .file(std::string(kPower) + "events/" + name + ".scale", scale)
      .file(std::string(kPower) + "events/" + name + ".unit", "Joules");
}

TEST_CASE("a machine without any of it says of each why") {
  const SysTree none;
  const EnergyTree tree = read_energy_tree(none.path());
  CHECK(tree.zones.empty());
  CHECK(tree.events.empty());
  for (const char* what : {"powercap", "perf", "frequency", "idle"}) {
    CAPTURE(what);
    CHECK(lacks(tree, what));
  }
}

TEST_CASE("zones of powercap have their names, their packages and their ranges") {
  SysTree sys;
  sys.zone("intel-rapl:0", "package-0", 262'143'328'850)
      .zone("intel-rapl:0:0", "core")
      .zone("intel-rapl:0:1", "dram")
      .zone("intel-rapl:10", "package-1")
      .zone("intel-rapl:2", "psys")
      .zone("intel-rapl-mmio:0", "package-0")
      .file("class/powercap/intel-rapl/enabled", "1")       // the control type
      .file("class/powercap/dtpm:0/power_uw", "12000000");  // power only
  const EnergyTree tree = read_energy_tree(sys.path());
  CHECK(tree.zones.size() == 6);
  CHECK_FALSE(lacks(tree, "powercap"));
  const model::EnergyZone& package = zone_at(tree, "intel-rapl:0");
  CHECK(package.package == "package-0");
  CHECK(package.range == 262'143'328'850);
  CHECK(package.missing.empty());
  CHECK(zone_at(tree, "intel-rapl:0:1").name == "dram");
  CHECK(zone_at(tree, "intel-rapl:0:1").package == "package-0");
  CHECK(zone_at(tree, "intel-rapl:2").package.empty());
  CHECK(zone_at(tree, "intel-rapl-mmio:0").package == "package-0");
  // By number, not by letter; and each has an id of its own.
  for (std::size_t at = 0; at < tree.zones.size(); ++at) CHECK(tree.zones[at].about.id == at);
  CHECK(tree.zones.back().about.place == "intel-rapl:10");
}

TEST_CASE("zones without a domain or a range are not measured") {
  SysTree sys;
  sys.zone("intel-rapl:0", "").zone("intel-rapl:1", "package-1", 0);
  sys.zone("intel-rapl:2", "package-2");
  std::filesystem::remove(sys.path("class/powercap/intel-rapl:2/max_energy_range_uj"));
  const EnergyTree tree = read_energy_tree(sys.path());
  REQUIRE(tree.zones.size() == 3);
  for (const PowercapZone& zone : tree.zones) CHECK_FALSE(zone.about.missing.empty());
}

TEST_CASE("power events are found with their scale, one for each CPU that counts") {
  SysTree sys;
  sys.file(std::string(kPower) + "type", "23").file(std::string(kPower) + "cpumask", "0,18");
  sys.file(std::string(kPower) + "format/event", "config:0-7");
  sys.file("devices/system/cpu/cpu0/topology/physical_package_id", "0")
      .file("devices/system/cpu/cpu18/topology/physical_package_id", "1");
  add_event(sys, "energy-pkg", "event=0x02");
  add_event(sys, "energy-ram", "event=0x03");
  add_event(sys, "energy-psys", "event=0x05");
  const EnergyTree tree = read_energy_tree(sys.path());
  REQUIRE(tree.events.size() == 6);
  const PowerEvent& first = tree.events.front();
  CHECK(first.type == 23);
  CHECK(first.config == 2);
  CHECK(first.cpu == 0);
  CHECK(first.unit_uj == Approx(2.3283064365386963e-4));
  CHECK(first.about.name == "package-0");
  CHECK(zone_at(tree, "power/energy-pkg on cpu 18").name == "package-1");
  CHECK(zone_at(tree, "power/energy-ram on cpu 18").name == "dram");
  CHECK(zone_at(tree, "power/energy-ram on cpu 18").package == "package-1");
  CHECK(zone_at(tree, "power/energy-psys on cpu 0").package.empty());
  CHECK_FALSE(lacks(tree, "perf"));
}

TEST_CASE("dies that are counted alone are named as powercap names them") {
  SysTree sys;
  sys.file(std::string(kPower) + "type", "23").file(std::string(kPower) + "cpumask", "0,1");
  sys.file(std::string(kPower) + "format/event", "config:0-7");
  for (const char* cpu : {"0", "1"})
    sys.file(std::string("devices/system/cpu/cpu") + cpu + "/topology/physical_package_id", "0")
        .file(std::string("devices/system/cpu/cpu") + cpu + "/topology/die_id", cpu);
  add_event(sys, "energy-pkg", "event=0x02");
  const EnergyTree tree = read_energy_tree(sys.path());
  CHECK(zone_at(tree, "power/energy-pkg on cpu 0").name == "package-0-die-0");
  CHECK(zone_at(tree, "power/energy-pkg on cpu 1").name == "package-0-die-1");
}

TEST_CASE("an event that cannot be opened has the reason") {
  SysTree sys;
  sys.file(std::string(kPower) + "type", "23").file(std::string(kPower) + "cpumask", "0");
  sys.file(std::string(kPower) + "format/event", "config:0-7");
  add_event(sys, "energy-pkg", "umask=0x02");
  add_event(sys, "energy-ram", "event=0x03", "-1");
  const EnergyTree tree = read_energy_tree(sys.path());
  REQUIRE(tree.events.size() == 2);
  for (const PowerEvent& event : tree.events) CHECK_FALSE(event.about.missing.empty());
}

TEST_CASE("frequencies and idle states are found of all CPUs") {
  SysTree sys;
  sys.policy(0, 800'000, 3'500'000).policy(4, 400'000, 2'000'000);
  for (const char* cpu : {"0", "1"})
    sys.file(std::string("devices/system/cpu/cpu") + cpu + "/cpuidle/state0/name", "POLL")
        .file(std::string("devices/system/cpu/cpu") + cpu + "/cpuidle/state0/time", "7")
        .file(std::string("devices/system/cpu/cpu") + cpu + "/cpuidle/state1/name", "C6")
        .file(std::string("devices/system/cpu/cpu") + cpu + "/cpuidle/state1/time", "8");
  const EnergyTree tree = read_energy_tree(sys.path());
  REQUIRE(tree.frequencies.size() == 2);
  CHECK(tree.frequencies[0].about.governor == "powersave");
  CHECK(tree.frequencies[1].about.cpus == "4");
  CHECK(tree.frequencies[1].about.most_khz == 2'000'000);
  REQUIRE(tree.idle.size() == 2);
  CHECK(tree.idle[0].about.name == "POLL");
  CHECK(tree.idle[1].about.id == 1);
  CHECK(tree.idle[1].about.cpus == 2);
  CHECK(tree.idle[1].paths.size() == 2);
}

}  // namespace
}  // namespace sojourn::capture
