// Detects what disturbed the measurements: CPU time taken by the hypervisor, other processes on the
// measuring CPUs, a changed frequency. It compares the kernel's counters at the start and at the
// end. One thread owns it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/host/placement.h"

namespace sojourn::host {

// The time of one CPU since boot, in ticks, from /proc/stat.
struct CpuTicks {
  std::uint64_t busy = 0;
  std::uint64_t idle = 0;
  std::uint64_t steal = 0;
};
// The times of all CPUs together, and of the selected ones.
struct StatReading {
  CpuTicks all;
  CpuTicks of_home;
  bool is_told = false;
};
StatReading parse_stat_file(std::string_view text, std::uint32_t home);

// Describes what disturbed the time between two readings. `own_ticks` is the CPU time of this
// process and its children.
std::vector<std::string> disturbances(const StatReading& before, const StatReading& after,
                                      std::uint64_t own_ticks);

// The length of a cycle at the start and at the end.
std::string frequency_change(double before_ns, double after_ns);

class DisturbanceWatch {
 public:
  DisturbanceWatch(const MachineRoots& roots, const Placement& placement);
  // One line for each disturbance since the object was made.
  std::vector<std::string> warnings() const;

 private:
  std::uint64_t own_ticks() const;

  const MachineRoots& roots_;
  std::uint32_t home_;
  StatReading before_;
  std::uint64_t own_before_;
  double cycle_before_ns_;
};

}  // namespace sojourn::host
