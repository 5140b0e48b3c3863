// Facts about this machine from the kernel's files. They are read below two roots, so that a test
// can supply any machine. Members without a file stay empty; nothing here is an error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sojourn::doctor {

struct Roots {
  std::string proc = "/proc";
  std::string sys = "/sys";
};

enum class Cgroups { kNone, kV1, kHybrid, kV2 };

struct HostFacts {
  std::string kernel;
  std::string cpu;
  std::string cpus_online;  // "0-3"
  bool has_btf = false;
  std::uint64_t capabilities = 0;  // effective
  std::optional<int> perf_event_paranoid;
  std::optional<int> unprivileged_bpf_disabled;
  std::optional<int> yama;
  std::string lockdown;  // "none", "integrity", "confidentiality"; empty: not known
  std::string clocksource;
  bool has_steady_counter = false;  // ticks at one rate, also in sleep states
  std::string isolated;             // "2-3"
  std::string nohz_full;
  std::vector<std::string> governors;  // each once
  std::optional<bool> smt;
  std::vector<std::string> energy_zones;    // "package-0", readable
  std::vector<std::string> energy_refused;  // zones that may not be read
  Cgroups cgroups = Cgroups::kNone;
  std::optional<std::uint64_t> memlock_bytes;        // unset: unlimited
  std::optional<std::uint64_t> cgroup_memory_bytes;  // the limit; none: unlimited
  std::uint64_t available_bytes = 0;

  bool has_capability(unsigned number) const { return (capabilities >> number & 1) != 0; }
};

HostFacts read_host(const Roots& roots);

}  // namespace sojourn::doctor
