#include "userspace/doctor/host_facts.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "userspace/tracee/host.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::doctor {

namespace {

namespace fs = std::filesystem;

std::string_view trimmed(std::string_view text) {
  const auto from = text.find_first_not_of(" \t\n");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t\n") - from + 1);
}

std::string read_text(const std::string& path) {
  const auto text = tracee::read_whole(path);
  return text ? std::string(trimmed(*text)) : std::string();
}

std::optional<int> read_setting(const std::string& path) {
  std::string text = read_text(path);
  const bool negative = text.starts_with('-');
  const auto number = tracee::parse_number(std::string_view(text).substr(negative ? 1 : 0));
  if (!number || *number > 1000) return std::nullopt;
  return negative ? -static_cast<int>(*number) : static_cast<int>(*number);
}

// "none [integrity] confidentiality"
std::string chosen_word(std::string_view text) {
  const auto open = text.find('[');
  const auto close = text.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return {};
  return std::string(text.substr(open + 1, close - open - 1));
}

// The value of a line "key : value" of /proc/cpuinfo.
std::string_view cpuinfo_value(std::string_view cpuinfo, std::string_view key) {
  for (const std::string_view line : tracee::split(cpuinfo, '\n')) {
    const auto colon = line.find(':');
    if (colon != std::string_view::npos && trimmed(line.substr(0, colon)) == key)
      return trimmed(line.substr(colon + 1));
  }
  return {};
}

template <typename List, typename Value>
bool holds(const List& list, const Value& value) {
  return std::ranges::find(list, value) != std::ranges::end(list);
}

// Sorted, so that the output does not depend on the directory's order.
std::vector<std::string> entries(const std::string& directory, std::string_view prefix) {
  std::vector<std::string> names;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(directory, missing))
    if (entry.path().filename().string().starts_with(prefix)) names.push_back(entry.path());
  std::ranges::sort(names);
  return names;
}

void read_cpus(const Roots& roots, HostFacts& facts) {
  const std::string cpus = roots.sys + "/devices/system/cpu";
  facts.cpus_online = read_text(cpus + "/online");
  facts.isolated = read_text(cpus + "/isolated");
  facts.nohz_full = read_text(cpus + "/nohz_full");
  if (facts.nohz_full == "(null)") facts.nohz_full.clear();  // as some kernels write "none"
  if (const auto smt = read_setting(cpus + "/smt/active")) facts.smt = *smt != 0;
  for (const std::string& cpu : entries(cpus, "cpu")) {
    std::string governor = read_text(cpu + "/cpufreq/scaling_governor");
    if (!governor.empty() && !holds(facts.governors, governor))
      facts.governors.push_back(std::move(governor));
  }
}

void read_energy(const Roots& roots, HostFacts& facts) {
  for (const std::string& zone : entries(roots.sys + "/class/powercap", "intel-rapl")) {
    std::string name = read_text(zone + "/name");
    if (name.empty()) continue;
    const bool readable = tracee::parse_number(read_text(zone + "/energy_uj")).has_value();
    (readable ? facts.energy_zones : facts.energy_refused).push_back(std::move(name));
  }
}

void read_cgroups(const Roots& roots, HostFacts& facts) {
  const std::string mount = roots.sys + "/fs/cgroup";
  const std::string own = read_text(roots.proc + "/self/cgroup");
  std::string memory_limit;
  if (fs::exists(mount + "/cgroup.controllers")) {
    facts.cgroups = Cgroups::kV2;
  } else if (fs::exists(mount + "/unified/cgroup.controllers")) {
    facts.cgroups = Cgroups::kHybrid;
  } else if (fs::exists(mount + "/memory")) {
    facts.cgroups = Cgroups::kV1;
  }
  for (const std::string_view line : tracee::split(own, '\n')) {
    const auto parts = tracee::split(line, ':');
    if (parts.size() != 3) continue;
    if (parts[1].empty() && facts.cgroups == Cgroups::kV2)
      memory_limit = read_text(fmt::format("{}{}/memory.max", mount, parts[2]));
    if (parts[1] == "memory")
      memory_limit = read_text(fmt::format("{}/memory{}/memory.limit_in_bytes", mount, parts[2]));
  }
  constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 60;  // v1 writes a very large number
  facts.cgroup_memory_bytes = tracee::parse_number(memory_limit);
  if (facts.cgroup_memory_bytes.value_or(0) >= kNoLimit) facts.cgroup_memory_bytes.reset();
}

void read_memory(const Roots& roots, HostFacts& facts) {
  const std::string limits = read_text(roots.proc + "/self/limits");
  constexpr std::string_view kMemlock = "Max locked memory";
  for (const std::string_view line : tracee::split(limits, '\n')) {
    if (!line.starts_with(kMemlock)) continue;
    const std::string_view rest = trimmed(line.substr(kMemlock.size()));
    facts.memlock_bytes = tracee::parse_number(rest.substr(0, rest.find(' ')));
  }
  const std::string meminfo = read_text(roots.proc + "/meminfo");
  const std::string_view available = trimmed(cpuinfo_value(meminfo, "MemAvailable"));
  facts.available_bytes =
      tracee::parse_number(available.substr(0, available.find(' '))).value_or(0) * 1024;
}

}  // namespace

HostFacts read_host(const Roots& roots) {
  HostFacts facts;
  const std::string settings = roots.proc + "/sys/kernel";
  const std::string cpuinfo = read_text(roots.proc + "/cpuinfo");
  const std::string status = read_text(roots.proc + "/self/status");
  facts.kernel = read_text(settings + "/osrelease");
  facts.cpu = cpuinfo_value(cpuinfo, "model name");
  facts.has_btf = fs::exists(roots.sys + "/kernel/btf/vmlinux");
  if (const auto value = tracee::status_value(status, "CapEff"))
    facts.capabilities = tracee::parse_number(*value, 16).value_or(0);
  facts.perf_event_paranoid = read_setting(settings + "/perf_event_paranoid");
  facts.unprivileged_bpf_disabled = read_setting(settings + "/unprivileged_bpf_disabled");
  facts.yama = read_setting(settings + "/yama/ptrace_scope");
  facts.lockdown = chosen_word(read_text(roots.sys + "/kernel/security/lockdown"));
  facts.clocksource =
      read_text(roots.sys + "/devices/system/clocksource/clocksource0/current_clocksource");
  facts.has_steady_counter = tracee::has_steady_counter(cpuinfo);
  read_cpus(roots, facts);
  read_energy(roots, facts);
  read_cgroups(roots, facts);
  read_memory(roots, facts);
  return facts;
}

}  // namespace sojourn::doctor
