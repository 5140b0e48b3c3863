// Energy while a real target is recorded, from counters that a test turns, and frequencies that are
// set for a while on a machine of files.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/live/programs.h"
#include "tests/support/sys_tree.h"
#include "userspace/base/clock.h"

namespace sojourn::live {
namespace {

using Catch::Approx;
using nlohmann::json;
using test::SysTree;

// Lets a zone's counter grow at this many watts, from just before it wraps.
class Meter {
 public:
  Meter(const SysTree& sys, const std::string& place, double watts)
      : thread_([this, &sys, file = SysTree::energy_of(place), watts] {
          constexpr std::uint64_t kRange = 65'532'610'987;
          const std::uint64_t begin_ns = base::monotonic_ns();
          while (!is_over_) {
            const auto since_ns = static_cast<double>(base::monotonic_ns() - begin_ns);
            const auto grown_uj = static_cast<std::uint64_t>(since_ns * watts * 1e-3);
            sys.count(file, (kRange - 10'000'000 + grown_uj) % kRange);
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
          }
        }) {}
  ~Meter() {
    is_over_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

SysTree& two_speeds(SysTree& sys) {
  return sys.policy(0, 800'000, 3'500'000).policy(1, 800'000, 3'500'000);
}

std::string limits_of(const SysTree& sys, unsigned policy) {
  const std::string folder = SysTree::policy_of(policy);
  return sys.text(folder + "scaling_min_freq") + " " + sys.text(folder + "scaling_max_freq");
}

bool wait_for_limits(const SysTree& sys, const std::string& wanted) {
  for (int times = 0; times < 3000; ++times) {
    if (limits_of(sys, 0) == wanted && limits_of(sys, 1) == wanted) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST_CASE("the counters' readings during a capture are in its report") {
  need_root();
  SysTree sys;
  sys.zone("intel-rapl:0", "package-0").zone("intel-rapl:0:0", "dram");
  sys.zone("intel-rapl-mmio:0", "package-0").zone("intel-rapl:1", "psys");
  two_speeds(sys);
  Station station;
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  {
    const Meter package(sys, "intel-rapl:0", 30);
    const Meter dram(sys, "intel-rapl:0:0", 5);
    const Meter repeated(sys, "intel-rapl-mmio:0", 30);
    const Meter machine(sys, "intel-rapl:1", 80);
    const test::Ended ended = sojourn({"record", "-p", std::to_string(station.pid()), "--energy",
                                       "20ms", "--sys", sys.path(), "--for", "1s", "-o", trace});
    INFO(ended.err);
    REQUIRE(ended.exit_code == 0);
    CHECK(ended.err.contains("energy not measured: perf: "));
    CHECK(ended.err.contains("energy not measured: idle: "));
  }
  const json report = json::parse(sojourn_done({"report", trace, "--json"}));
  const json& energy = report["energy"];
  CAPTURE(energy.dump());
  REQUIRE(energy["measured"] == true);
  CHECK(energy["watts"].get<double>() == Approx(35).epsilon(0.1));
  CHECK(energy["zones"][0]["wraps"] == 1);
  CHECK(energy["zones"][0]["readings"] > 20);
  CHECK(energy["joules_a_packet"].get<double>() * energy["packets"].get<double>() ==
        Approx(energy["joules"].get<double>()));
  CHECK(energy["frequency"].size() == 2);
  CHECK(sojourn({"check", trace}).exit_code == 0);
}

TEST_CASE("a zone that vanishes while it is recorded is reported") {
  need_root();
  SysTree sys;
  sys.zone("intel-rapl:0", "package-0");
  Station station;
  const test::TemporaryDirectory directory;
  test::Child child({SJ_SOJOURN, "record", "-p", std::to_string(station.pid()), "--energy", "20ms",
                     "--sys", sys.path(), "-o", directory.path("run.sjt")});
  REQUIRE(child.wait_for_output("attached"));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  std::filesystem::remove_all(sys.path("class/powercap/intel-rapl:0"));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  child.signal(SIGINT);
  const test::Ended ended = child.wait();
  CHECK(ended.exit_code == 0);
  CHECK(ended.err.contains("energy not measured: intel-rapl:0 (package-0): vanished"));
  const json energy =
      json::parse(sojourn_done({"report", directory.path("run.sjt"), "--json"}))["energy"];
  CHECK(energy["measured"] == false);
  CHECK(energy["why_not"].get<std::string>().starts_with("package-0 vanished after 0."));
}

TEST_CASE("one process is recorded at two frequencies in turns, and they are set back") {
  need_root();
  SysTree sys;
  two_speeds(sys);
  Station station;
  const test::TemporaryDirectory directory;
  const std::string keep = directory.path("sweep");
  const test::Ended ended =
      sojourn({"ab", "--sweep-frequency", "--sys", sys.path(), "--runs", "2", "--for", "300ms",
               "--keep", keep, "--json", "-p", std::to_string(station.pid())});
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);
  CHECK(ended.err.contains("run 1 of 4: 3500MHz"));
  CHECK(ended.err.contains("run 2 of 4: 800MHz"));
  CHECK(ended.err.contains("run 3 of 4: 800MHz"));
  CHECK(ended.err.contains("run 4 of 4: 3500MHz"));
  CHECK(ended.err.contains("compared: 3500MHz (base) and 800MHz (new)"));
  const json said = json::parse(ended.out);
  REQUIRE(said["base"].size() == 2);
  CHECK(said["base"][0]["path"].get<std::string>().ends_with("3500MHz-01.sjt"));
  for (const char* name : {"3500MHz-02.sjt", "800MHz-01.sjt", "800MHz-02.sjt"})
    CHECK(std::filesystem::exists(keep + "/" + name));
  CHECK(limits_of(sys, 0) == "800000 3500000");
  CHECK(limits_of(sys, 1) == "800000 3500000");
}

TEST_CASE("a sweep that is interrupted or killed leaves the frequencies as they were") {
  need_root();
  for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
    CAPTURE(signal);
    SysTree sys;
    two_speeds(sys);
    Station station;
    test::Child child({SJ_SOJOURN, "ab", "--sweep-frequency", "800MHz,1.2GHz", "--sys", sys.path(),
                       "--for", "60s", "-p", std::to_string(station.pid())});
    REQUIRE(wait_for_limits(sys, "1200000 1200000"));
    child.signal(signal);
    const test::Ended ended = child.wait();
    CHECK(ended.exit_code == (signal == SIGKILL ? -1 : 1));
    CHECK(wait_for_limits(sys, "800000 3500000"));
    CHECK(station.running());
  }
}

TEST_CASE("a run that fails sets the frequency back") {
  need_root();
  SysTree sys;
  two_speeds(sys);
  const test::Ended ended =
      sojourn({"ab", "--sweep-frequency", "--sys", sys.path(), "--", "/nowhere/station"});
  CHECK(ended.exit_code == 1);
  CHECK(ended.err.contains("run 1 of 14 (3500MHz)"));
  CHECK(limits_of(sys, 0) == "800000 3500000");
}

TEST_CASE("a machine without counters of energy says so, and records all else") {
  need_root();
  if (std::filesystem::exists("/sys/class/powercap/intel-rapl:0")) SKIP("this machine has some");
  Station station;
  const test::TemporaryDirectory directory;
  const std::string trace = directory.path("run.sjt");
  const test::Ended ended = sojourn(
      {"record", "-p", std::to_string(station.pid()), "--energy", "--for", "300ms", "-o", trace});
  CHECK(ended.exit_code == 0);
  CHECK(ended.err.contains("energy not measured: powercap: "));
  const std::string text = sojourn_done({"report", trace});
  CHECK(text.contains("energy not measured: "));
  CHECK_FALSE(text.contains("0 J"));
}

}  // namespace
}  // namespace sojourn::live
