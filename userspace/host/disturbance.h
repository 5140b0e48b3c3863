// What else went on while measuring: CPU time that the hypervisor took, other processes on the
// measuring CPUs, a frequency that changed. What the kernel counts is read at the begin and at the
// end. One thread owns it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/host/placement.h"

namespace sojourn::host {

// The time of one CPU since boot, in ticks, as /proc/stat has it.
struct CpuTicks {
  std::uint64_t busy = 0;
  std::uint64_t idle = 0;
  std::uint64_t steal = 0;
};
// The times of all CPUs together, and of those that are asked for.
struct StatReading {
  CpuTicks all;
  CpuTicks of_home;
  bool is_told = false;
};
StatReading parse_stat_file(std::string_view text, std::uint32_t home);

// In words, what disturbed the time between two readings; `own_ticks`: this process's own CPU time
// and that of its children.
std::vector<std::string> disturbances(const StatReading& before, const StatReading& after,
                                      std::uint64_t own_ticks);

// A cycle's length at the begin and at the end.
std::string frequency_change(double before_ns, double after_ns);

class DisturbanceWatch {
 public:
  DisturbanceWatch(const MachineRoots& roots, const Placement& placement);
  // A line for each thing that disturbed measuring since the object was made.
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
