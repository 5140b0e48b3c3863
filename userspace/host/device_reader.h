// Reads the description of memory modules, disks and network cards, as machine_reader.h does for
// the rest.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/host/host_profile.h"
#include "userspace/host/machine_reader.h"

namespace sojourn::host {

std::vector<MachineFact> read_devices(const MachineRoots& roots);

// A memory module of the firmware's table (SMBIOS type 17).
struct MemoryModule {
  std::string kind;            // "DDR4"; empty: not known
  std::uint32_t rate_mts = 0;  // million transfers a second, as configured; 0: not known
  std::uint32_t bits = 0;      // width of its bus
};
// The installed modules. A table that is cut short or has wrong lengths is read up to there.
std::vector<MemoryModule> parse_dmi_modules(std::span<const unsigned char> table);

}  // namespace sojourn::host
