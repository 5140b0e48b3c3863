#include "tests/unit/host/profiles.h"

namespace sojourn::host {

Measurement measured(const std::string& id, double median, Unit unit) {
  Measurement one;
  one.id = id;
  one.group = id.substr(0, id.find('.'));
  one.name = "name of " + id;
  one.method = "by hand";
  one.unit = unit;
  one.measured = {.count = 40,
                  .mean = median,
                  .stdev = median / 40,
                  .min = median * 0.9,
                  .q1 = median * 0.975,
                  .median = median,
                  .q3 = median * 1.025,
                  .max = median * 2};
  return one;
}

HostProfile whole_profile() {
  HostProfile profile;
  profile.tool = "sojourn 9.9";
  profile.form = "quick";
  profile.boot_id = "b007";
  profile.measured_at_s = 1'800'000'000;
  profile.took_s = 12.5;
  profile.facts = {{"cpu.model", "processor", "A CPU", "/proc/cpuinfo"},
                   {"disk.sda", "disk sda", "", "not in /sys"}};
  Measurement syscall = measured("calls.syscall", 81.5);
  syscall.hardware = 20;
  syscall.software = 40;
  syscall.basis = "two parts";
  syscall.reason = "slow";
  syscall.unstable = "drifts";
  syscall.note = "noted";
  Measurement absent = measured("memory.latency.l3", 1);
  absent.measured = {};
  absent.left_out = "no L3";
  Measurement rate = measured("memory.copy", 9.5e9, Unit::kBytesPerSecond);
  rate.is_less_better = false;
  profile.measurements = {syscall, absent, rate};
  profile.curves = {{.id = "memory.latency",
                     .group = "memory",
                     .name = "latency",
                     .x_name = "set",
                     .x_unit = Unit::kBytes,
                     .y_name = "load",
                     .y_unit = Unit::kNs,
                     .points = {{.x = 4096, .y = 1.5, .q1 = 1.4, .q3 = 1.6},
                                {.x = 8192, .y = 3, .q1 = 2.9, .q3 = 3.1}},
                     .knees = {{.x = 4096, .before = 1.5, .after = 3}},
                     .note = "a note"}};
  profile.matrices = {{.id = "cores.lines",
                       .group = "cores",
                       .name = "lines",
                       .unit = Unit::kNs,
                       .cpus = {0, 3},
                       .values = {std::nullopt, 60.0, 61.0, std::nullopt},
                       .note = "two of them"}};
  profile.warnings = {"steal"};
  return profile;
}

}  // namespace sojourn::host
