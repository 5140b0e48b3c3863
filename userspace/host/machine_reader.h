// Reads the machine's description: processor, caches, memory, disks, network cards, system. It
// reads below root folders, so that a test can present any machine, also one that lies. A missing
// fact is "not told" with the reason; nothing here is an error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/host/host_profile.h"
#include "userspace/host/cpuid.h"

namespace sojourn::host {

struct MachineRoots {
  std::string proc = "/proc";
  std::string sys = "/sys";
  std::string etc = "/etc";
};

std::vector<MachineFact> read_machine(const MachineRoots& roots, const Cpuid& cpuid);

// The CPUs of a machine, as placement and measurements need them.
struct CpuLayout {
  std::vector<std::uint32_t> online;
  std::vector<std::vector<std::uint32_t>> siblings;  // by place in `online`; itself with them
  std::vector<std::uint32_t> isolated;

  bool shares_core(std::uint32_t left, std::uint32_t right) const;
};
CpuLayout read_layout(const MachineRoots& roots);

struct CacheLevel {
  std::uint32_t level = 0;
  std::string kind;  // "data", "instruction", "unified"
  std::uint64_t bytes = 0;
  std::uint64_t line_bytes = 0;
  std::uint64_t sharers = 0;  // hardware threads; 0: not known
  std::string source;
};
// From sysfs; without it, from CPUID.
std::vector<CacheLevel> read_caches(const MachineRoots& roots, const Cpuid& cpuid);

// Parses "48K", "1024K", "32M", "96 kB"; 0 for anything else.
std::uint64_t parse_size(std::string_view text);

// A file's text without blanks around it; empty if the file cannot be read.
std::string read_line_below(const std::string& path);

}  // namespace sojourn::host
