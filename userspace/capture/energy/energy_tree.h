// The energy readings that a machine offers: zones of powercap, the kernel's power events,
// frequency policies and idle states, from the files below /sys. They are read below a root folder,
// so that a test can have any machine it wants. A missing or senseless reading has the reason in
// it; none is an error.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/energy_info.h"

namespace sojourn::capture {

// A counter that is a file.
struct PowercapZone {
  std::string path = {};  // of energy_uj
  model::EnergyZone about = {};
};

// A counter of perf.
struct PowerEvent {
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  int cpu = 0;
  double unit_uj = 0;  // microjoules of one count
  model::EnergyZone about = {};
};

struct FrequencyFile {
  std::string path = {};  // in kHz
  model::FrequencyPolicy about = {};
};

// The files of one idle state, of all CPUs, in microseconds.
struct IdleFiles {
  std::vector<std::string> paths = {};
  model::IdleState about = {};
};

struct EnergyTree {
  std::vector<PowercapZone> zones = {};
  std::vector<PowerEvent> events = {};
  std::vector<FrequencyFile> frequencies = {};
  std::vector<IdleFiles> idle = {};
  std::vector<model::EnergyMissing> missing = {};
};

// `sys` is where /sys is.
EnergyTree read_energy_tree(const std::string& sys);

}  // namespace sojourn::capture
