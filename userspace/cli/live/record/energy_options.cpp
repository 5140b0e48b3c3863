#include "userspace/cli/live/record/energy_options.h"

#include <chrono>
#include <memory>

#include "userspace/cli/checks.h"
#include "userspace/cli/tell.h"
#include "userspace/cli/units.h"

namespace sojourn::cli {

namespace {

std::string check_energy_period(const std::string& text) {
  const auto period = parse_duration(text);
  if (!period) return period.error().text();
  return *period < std::chrono::milliseconds(10) || *period > std::chrono::seconds(10)
             ? "a period of 10ms to 10s is wanted"
             : "";
}

}  // namespace

void define_energy_options(Arguments& arguments, EnergyWanted& wanted) {
  arguments
      .add_option("--energy", wanted.period,
                  "Also read the machine's energy counters, e.g. every 50ms; without a period "
                  "every 100ms: packages, cores, DRAM (powercap, perf's power events), with "
                  "frequencies and idle states once a second. They count all that runs on the "
                  "machine. Missing counters are reported (docs/energy.md)")
      .expected(0, 1)
      .option_text("[PERIOD]")
      .check(check_energy_period);
  arguments
      .add_option("--sys", wanted.sys,
                  "Where /sys is, for --energy: in a container where the host's is mounted")
      .type_name("DIR")
      .capture_default_str();
}

void check_energy_options(const Arguments& arguments, EnergyWanted& wanted) {
  wanted.wanted = arguments.count("--energy") != 0;
  if (!wanted.wanted && arguments.count("--sys") != 0) refuse_usage("--sys goes with --energy");
}

Result<void> want_energy(const EnergyWanted& wanted, bool quiet, capture::Options& options) {
  if (!wanted.wanted) return {};
  capture::EnergyOptions energy;
  energy.sys = wanted.sys;
  if (!wanted.period.empty()) {
    SJ_TRY(period, parse_duration(wanted.period));
    energy.period = period;
  }
  if (!quiet)
    energy.tell = [](const std::string& what, const std::string& why) {
      tell("energy not measured: {}: {}\n", what, why);
    };
  options.others.emplace_back(
      [energy](const tracee::Process&) -> Result<std::unique_ptr<capture::Source>> {
        return capture::EnergySource::create(energy);
      });
  return {};
}

}  // namespace sojourn::cli
