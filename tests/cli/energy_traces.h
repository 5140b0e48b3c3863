// Traces with energy readings, made of traces without.
#pragma once

#include <cstdint>
#include <string>

namespace sojourn::cli_tests {

struct EnergyOf {
  double package_watts = 0;
  double dram_watts = 0;
  std::uint64_t khz = 0;      // the only frequency that was allowed
  bool is_repeated = false;   // package 0 a second time
  bool has_vanished = false;  // the package's zone, before the end
};

// The trace again, under its name, with readings once in a hundredth of its capture.
void add_energy(const std::string& trace, const EnergyOf& energy);

}  // namespace sojourn::cli_tests
