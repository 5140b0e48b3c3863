// `sojourn energy`, and the energy in `report`, on traces whose readings are known.
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "tests/cli/energy_traces.h"
#include "tests/cli/programs.h"

namespace sojourn::cli_tests {
namespace {

using Catch::Approx;
using nlohmann::json;

// The radio trace with readings, under a name of its own.
std::string copy_with(const Traces& traces, const std::string& name, const EnergyOf& energy) {
  const std::string path = traces.directory().path(name);
  std::filesystem::copy_file(traces.path("radio"), path);
  add_energy(path, energy);
  return path;
}

json report_of(const std::string& path, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"report", path, "--json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return json::parse(output_of(arguments));
}

TEST_CASE("report shows the joules in total, by domain and by packet") {
  const Traces traces;
  const std::string path =
      copy_with(traces, "one.sjt",
                {.package_watts = 40, .dram_watts = 10, .khz = 2'400'000, .is_repeated = true});
  const json whole = report_of(path);
  const json& energy = whole["energy"];
  CAPTURE(energy.dump());
  const double duration_s = whole["duration_s"];
  CHECK(energy["measured"] == true);
  CHECK(energy["why_not"].is_null());
  CHECK(energy["of"] == "packages and DRAM");
  CHECK(energy["watts"].get<double>() == Approx(50).epsilon(1e-3));
  CHECK(energy["joules"].get<double>() == Approx(50 * duration_s).epsilon(1e-3));
  CHECK(energy["zones"].size() == 3);
  CHECK(energy["zones"][0]["wraps"] == 1);
  CHECK(energy["zones"][2]["counts"] == false);
  CHECK(energy["zones"][2]["aside"] == "repeats intel-rapl:0");
  CHECK(energy["domains"][0]["watts"].get<double>() == Approx(40).epsilon(1e-3));
  CHECK(energy["frequency"][0]["mean_khz"] == 2'400'000);
  CHECK(energy["missing"][0]["what"] == "idle");
  // A packet's share, by the packets that the report counts.
  std::uint64_t packets = 0;
  for (const char* direction : {"D", "U"}) {
    const json& of = whole["journeys"][direction];
    const std::uint64_t timed =
        of["complete"].get<std::uint64_t>() - of["at_one_point"].get<std::uint64_t>();
    CHECK(energy[direction]["packets"] == timed);
    packets += timed;
    if (timed == 0) continue;
    CHECK(energy[direction]["joules_a_packet"].get<double>() ==
          Approx(energy["joules"].get<double>() / static_cast<double>(timed)));
    // The lower bound is the energy if all packets took as long as the mean, the upper one if all
    // took the longest.
    const double share = energy["joules_a_packet"];
    const double mean_s = of["latency_us"]["mean"].get<double>() * 1e-6;
    const double max_s = of["latency_us"]["max"].get<double>() * 1e-6;
    CHECK(energy[direction]["energy_delay2_js2"].get<double>() >= share * mean_s * mean_s * 0.999);
    CHECK(energy[direction]["energy_delay2_js2"].get<double>() <= share * max_s * max_s * 1.001);
  }
  CHECK(packets != 0);
  CHECK(energy["packets"] == packets);
  const std::string text = output_of({"report", path});
  CHECK(text.contains("packages and DRAM"));
  CHECK(text.contains("50.0 W"));
  CHECK(text.contains("energy a packet"));
  CHECK(text.contains("2.40 GHz on average"));
  CHECK(text.contains("not added: intel-rapl-mmio:0 package-0: it repeats intel-rapl:0"));
  CHECK(text.contains("not measured: idle: no states"));
}

TEST_CASE("energy a packet needs all packets and a measurement") {
  const Traces traces;
  const std::string path = copy_with(traces, "some.sjt", {.package_watts = 40, .khz = 1});
  const json some = report_of(path, {"--where", "dir == D"})["energy"];
  CHECK(some["measured"] == true);
  CHECK(some["joules_a_packet"].is_null());
  const std::string gone =
      copy_with(traces, "gone.sjt", {.package_watts = 40, .khz = 1, .has_vanished = true});
  const json lacking = report_of(gone)["energy"];
  CHECK(lacking["measured"] == false);
  CHECK(lacking["why_not"].get<std::string>().contains("package-0 vanished after"));
  for (const char* figure : {"joules", "watts", "of", "joules_a_packet"}) {
    CAPTURE(figure);
    CHECK(lacking[figure].is_null());
  }
  CHECK(output_of({"report", gone}).contains("energy not measured: package-0 vanished after"));
}

TEST_CASE("a trace without readings shows that none were requested") {
  const Traces traces;
  const json energy = report_of(traces.path("radio"))["energy"];
  CHECK(energy["measured"] == false);
  CHECK(energy["why_not"].get<std::string>().contains("record --energy"));
  CHECK_FALSE(output_of({"report", traces.path("radio")}).contains("energy"));
}

TEST_CASE("runs are beside each other, and the best are marked") {
  const Traces traces;
  // With equal latency, the run that takes least energy is the only best one.
  const std::string slow = copy_with(traces, "a.sjt", {.package_watts = 20, .khz = 800'000});
  const std::string fast = copy_with(traces, "b.sjt", {.package_watts = 60, .khz = 3'500'000});
  const json told =
      json::parse(output_of({"energy", slow, fast, traces.path("radio"), "--by", "p99", "--json"}));
  CHECK(told["compared_by"] == "p99");
  REQUIRE(told["runs"].size() == 3);
  CHECK(told["runs"][0]["setting"] == "800 MHz");
  CHECK(told["runs"][0]["best"]["D"] == true);
  CHECK(told["runs"][1]["best"]["D"] == false);
  CHECK(told["runs"][2]["best"]["D"] == false);
  CHECK(told["runs"][1]["energy"]["watts"].get<double>() == Approx(60).epsilon(1e-3));
  CHECK(told["runs"][2]["energy"]["measured"] == false);
  CHECK(told["runs"][0]["latency_us"]["D"] ==
        report_of(slow)["journeys"]["D"]["latency_us"]["p99"]);
  const std::string text = output_of({"energy", slow, fast, traces.path("radio")});
  CHECK(text.contains("800 MHz"));
  CHECK(text.contains("3.50 GHz"));
  CHECK(text.contains("D mean"));
  CHECK(text.contains("energy not measured: " + traces.path("radio")));
  require_error(sojourn({"energy", "/nowhere.sjt"}), "/nowhere.sjt");
  CHECK(sojourn({"energy"}).exit_code == 2);
  CHECK(sojourn({"energy", slow, "--by", "p42"}).exit_code == 2);
}

TEST_CASE("readings are events like others") {
  const Traces traces;
  const std::string path = copy_with(traces, "events.sjt", {.package_watts = 20, .khz = 800'000});
  const std::string events = output_of({"events", path});
  CHECK(events.contains("Q energy.sample"));
  CHECK(events.contains("Q energy.frequency"));
  CHECK(sojourn({"check", path}).exit_code == 0);
}

}  // namespace
}  // namespace sojourn::cli_tests
