#include "userspace/tracee/host.h"

#include <algorithm>
#include <string>

#include <sys/utsname.h>
#include <unistd.h>

#include "userspace/tracee/procfs.h"

namespace sojourn::tracee {

namespace {

// The value of the first CPU that has this key.
std::string_view value_of(std::string_view cpuinfo, std::string_view key) {
  for (const std::string_view line : split(cpuinfo, '\n')) {
    const std::size_t colon = line.find(':');
    if (!line.starts_with(key) || colon == std::string_view::npos) continue;
    const std::size_t value = line.find_first_not_of(" \t", colon + 1);
    if (value != std::string_view::npos) return line.substr(value);
  }
  return {};
}

std::string cpu_model() {
  const auto cpuinfo = read_whole("/proc/cpuinfo");
  if (!cpuinfo) return {};
  // x86-64 names the model; arm64 mostly gives numbers only.
  for (const std::string_view key : {"model name", "Model", "CPU part"})
    if (const std::string_view value = value_of(*cpuinfo, key); !value.empty())
      return std::string(value);
  return {};
}

}  // namespace

model::Host host_info() {
  utsname system{};
  uname(&system);
  const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  return {.name = system.nodename,
          .kernel = system.release,
          .machine = system.machine,
          .cpu_model = cpu_model(),
          .cpus = cpus > 0 ? static_cast<std::uint32_t>(cpus) : 0};
}

bool has_steady_counter(std::string_view cpuinfo) {
  const auto flags = split(value_of(cpuinfo, "flags"), ' ');
  const auto has = [&](std::string_view flag) {
    return std::ranges::find(flags, flag) != flags.end();
  };
  return (has("constant_tsc") && has("nonstop_tsc")) ||
         !value_of(cpuinfo, "CPU implementer").empty();  // arm64's always is
}

bool has_steady_counter() {
  const auto cpuinfo = read_whole("/proc/cpuinfo");
  return cpuinfo && has_steady_counter(*cpuinfo);
}

// The kernel gives the first PID namespace this inode number (PROC_PID_INIT_INO), since Linux 3.8.
bool in_first_pid_namespace() {
  const auto link = read_link("/proc/self/ns/pid");
  return !link || *link == "pid:[4026531836]";
}

}  // namespace sojourn::tracee
