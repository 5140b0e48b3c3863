// The options of `record` for energy, and the source that they ask for.
#pragma once

#include <string>

#include "userspace/capture/api.h"
#include "userspace/cli/arguments.h"

namespace sojourn::cli {

struct EnergyWanted {
  bool wanted = false;
  std::string period;
  std::string sys = "/sys";
};

void define_energy_options(Arguments& arguments, EnergyWanted& wanted);

// To be called when all arguments are parsed. Refuses options that go with --energy only.
void check_energy_options(const Arguments& arguments, EnergyWanted& wanted);

// Adds the source, if it was asked for.
Result<void> want_energy(const EnergyWanted& wanted, bool quiet, capture::Options& options);

}  // namespace sojourn::cli
