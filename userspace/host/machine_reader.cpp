#include "userspace/host/machine_reader.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "userspace/host/device_reader.h"
#include "userspace/tracee/cpu_list.h"
#include "userspace/tracee/procfs.h"

namespace sojourn::host {

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kMostCacheLeaves = 16;  // of a processor whose list has no end

std::string_view trimmed(std::string_view text) {
  const auto from = text.find_first_not_of(" \t\n");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t\n") - from + 1);
}

// The key's value, from the first CPU that has the key.
std::string value_of(std::string_view text, std::string_view key) {
  for (const std::string_view line : tracee::split(text, '\n')) {
    const auto colon = line.find(':');
    if (colon != std::string_view::npos && trimmed(line.substr(0, colon)) == key)
      return std::string(trimmed(line.substr(colon + 1)));
  }
  return {};
}

bool has_flag(std::string_view cpuinfo, std::string_view flag) {
  const std::string flags = value_of(cpuinfo, "flags");
  const auto words = tracee::split(flags, ' ');
  return std::ranges::find(words, flag) != words.end();
}

// Collects facts. The first source of a fact wins.
class Facts {
 public:
  explicit Facts(std::vector<MachineFact>& facts) : facts_(facts) {}

  void add(std::string id, std::string name, std::string value, std::string source) {
    if (value.empty() && !source.starts_with("no ")) source = "not in " + source;
    facts_.push_back({std::move(id), std::move(name), std::move(value), std::move(source)});
  }

 private:
  std::vector<MachineFact>& facts_;
};

std::string mhz_text(double mhz) {
  return mhz > 0 ? fmt::format("{:.0f} MHz", mhz) : std::string();
}

// The frequency in a file that holds kHz, as text.
std::string khz_file(const std::string& path) {
  const auto khz = tracee::parse_number(read_line_below(path));
  return khz && *khz > 0 ? mhz_text(static_cast<double>(*khz) / 1000) : std::string();
}

void add_processor(const MachineRoots& roots, const Cpuid& cpuid, std::string_view cpuinfo,
                   Facts& facts) {
  const std::string model = value_of(cpuinfo, "model name");
  const std::string source = roots.proc + "/cpuinfo";
  if (!model.empty() || cpuid.brand().empty())
    facts.add("cpu.model", "processor", model.empty() ? value_of(cpuinfo, "CPU part") : model,
              source);
  else
    facts.add("cpu.model", "processor", cpuid.brand(), "CPUID");
  const CpuLayout layout = read_layout(roots);
  std::set<std::vector<std::uint32_t>> cores(layout.siblings.begin(), layout.siblings.end());
  const bool has_smt = std::ranges::any_of(
      layout.siblings, [](const auto& siblings) { return siblings.size() > 1; });
  facts.add("cpu.count", "cores, threads",
            layout.online.empty()
                ? std::string()
                : fmt::format("{} cores, {} threads{}", cores.size(), layout.online.size(),
                              has_smt ? ", SMT on" : ", no SMT seen"),
            roots.sys + "/devices/system/cpu");
  facts.add("cpu.isolated", "isolated CPUs",
            layout.isolated.empty() ? "none" : fmt::format("{}", fmt::join(layout.isolated, ",")),
            roots.sys + "/devices/system/cpu/isolated");
  std::string hypervisor = "no";
  if (cpuid.is_virtual() || has_flag(cpuinfo, "hypervisor"))
    hypervisor = cpuid.hypervisor().empty() ? "yes, by whom is not told" : cpuid.hypervisor();
  facts.add("virtual", "virtual machine", hypervisor, "CPUID");
}

void add_frequencies(const MachineRoots& roots, const Cpuid& cpuid, Facts& facts) {
  const std::string cpufreq = roots.sys + "/devices/system/cpu/cpu0/cpufreq";
  const auto told = cpuid.leaf(0x16);  // MHz, of Intel's
  const std::string base = khz_file(cpufreq + "/base_frequency");
  if (base.empty() && told && (told->eax & 0xffff) != 0)
    facts.add("freq.base", "base frequency", mhz_text(told->eax & 0xffff), "CPUID 0x16");
  else
    facts.add("freq.base", "base frequency", base, cpufreq);
  const std::string turbo = khz_file(cpufreq + "/cpuinfo_max_freq");
  if (turbo.empty() && told && (told->ebx & 0xffff) != 0)
    facts.add("freq.turbo", "turbo frequency", mhz_text(told->ebx & 0xffff), "CPUID 0x16");
  else
    facts.add("freq.turbo", "turbo frequency", turbo, cpufreq);
  facts.add("freq.governor", "frequency governor", read_line_below(cpufreq + "/scaling_governor"),
            cpufreq);
}

std::string yes_no(bool told) {
  return told ? "yes" : "no";
}

// Names both sources if they disagree.
std::string by_both(bool by_cpuid, bool by_flags) {
  if (by_cpuid == by_flags) return yes_no(by_cpuid);
  return fmt::format("{} by CPUID, {} by /proc/cpuinfo", yes_no(by_cpuid), yes_no(by_flags));
}

void add_counter(const MachineRoots& roots, const Cpuid& cpuid, std::string_view cpuinfo,
                 Facts& facts) {
  const bool by_flags = has_flag(cpuinfo, "constant_tsc") && has_flag(cpuinfo, "nonstop_tsc");
  const bool is_arm = !value_of(cpuinfo, "CPU implementer").empty();
  facts.add("counter.invariant", "invariant cycle counter",
            is_arm ? "yes" : by_both(cpuid.has_invariant_counter(), by_flags),
            is_arm ? "the architecture" : "CPUID and /proc/cpuinfo");
  if (!is_arm)
    facts.add("counter.rdtscp", "rdtscp", by_both(cpuid.has_rdtscp(), has_flag(cpuinfo, "rdtscp")),
              "CPUID and /proc/cpuinfo; the CPU that it names is not used");
  const std::string clock = roots.sys + "/devices/system/clocksource/clocksource0";
  facts.add("clocksource", "clock source", read_line_below(clock + "/current_clocksource"), clock);
}

void add_caches(const MachineRoots& roots, const Cpuid& cpuid, Facts& facts) {
  const auto caches = read_caches(roots, cpuid);
  if (caches.empty()) facts.add("cache", "caches", "", "no cache in sysfs, and none in CPUID");
  for (const CacheLevel& cache : caches) {
    const std::string_view letter = cache.kind == "data"          ? "d"
                                    : cache.kind == "instruction" ? "i"
                                                                  : "";
    const std::string id = fmt::format("cache.l{}{}", cache.level, letter);
    std::string value = fmt::format("{} KiB", cache.bytes / 1024);
    if (cache.line_bytes != 0) value += fmt::format(", lines of {} B", cache.line_bytes);
    if (cache.sharers != 0)
      value += fmt::format(", for {} thread{}", cache.sharers, cache.sharers == 1 ? "" : "s");
    facts.add(id, fmt::format("L{}{} cache", cache.level, letter), value, cache.source);
  }
}

void add_memory(const MachineRoots& roots, Facts& facts) {
  const std::string path = roots.proc + "/meminfo";
  const auto text = tracee::read_whole(path);
  const auto size = [&](std::string_view key) {
    const std::uint64_t bytes = text ? parse_size(value_of(*text, key)) : 0;
    return bytes == 0 ? std::string()
                      : fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30));
  };
  facts.add("memory.total", "memory", size("MemTotal"), path);
  facts.add("memory.available", "memory available", size("MemAvailable"), path);
}

void add_system(const MachineRoots& roots, Facts& facts) {
  std::string name;
  if (const auto release = tracee::read_whole(roots.etc + "/os-release"))
    for (const std::string_view line : tracee::split(*release, '\n'))
      if (line.starts_with("PRETTY_NAME=")) name = line.substr(12);
  std::erase(name, '"');
  facts.add("os.name", "operating system", name, roots.etc + "/os-release");
  const std::string kernel = roots.proc + "/sys/kernel";
  facts.add("os.kernel", "kernel", read_line_below(kernel + "/osrelease"), kernel + "/osrelease");
  facts.add("os.build", "kernel's build", read_line_below(kernel + "/version"),
            kernel + "/version");
  std::size_t vulnerable = 0;
  std::size_t mitigated = 0;
  std::error_code missing;
  const std::string faults = roots.sys + "/devices/system/cpu/vulnerabilities";
  for (const auto& entry : fs::directory_iterator(faults, missing)) {
    const std::string state = read_line_below(entry.path());
    vulnerable += state.starts_with("Vulnerable") ? 1 : 0;
    mitigated += state.starts_with("Mitigation") ? 1 : 0;
  }
  facts.add(
      "os.mitigations", "processor faults",
      missing ? std::string() : fmt::format("{} worked around, {} open", mitigated, vulnerable),
      faults);
}

std::vector<CacheLevel> caches_of_sysfs(const MachineRoots& roots) {
  std::vector<CacheLevel> caches;
  const std::string folder = roots.sys + "/devices/system/cpu/cpu0/cache";
  for (std::uint32_t index = 0; index < kMostCacheLeaves; ++index) {
    const std::string one = fmt::format("{}/index{}", folder, index);
    const auto level = tracee::parse_number(read_line_below(one + "/level"));
    const std::uint64_t bytes = parse_size(read_line_below(one + "/size"));
    std::string kind = read_line_below(one + "/type");
    std::ranges::transform(kind, kind.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    });
    if (!level || *level == 0 || *level > 9 || bytes == 0) continue;
    caches.push_back(
        {.level = static_cast<std::uint32_t>(*level),
         .kind = kind,
         .bytes = bytes,
         .line_bytes =
             tracee::parse_number(read_line_below(one + "/coherency_line_size")).value_or(0),
         .sharers = tracee::parse_cpu_list(read_line_below(one + "/shared_cpu_list")).size(),
         .source = folder});
  }
  return caches;
}

std::vector<CacheLevel> caches_of_cpuid(const Cpuid& cpuid) {
  for (const std::uint32_t number : {0x4U, 0x8000001dU}) {
    std::vector<CacheLevel> caches;
    for (std::uint32_t index = 0; index < kMostCacheLeaves; ++index) {
      const auto words = cpuid.leaf(number, index);
      const std::uint32_t kind = words ? words->eax & 0x1f : 0;
      if (kind == 0) break;
      const std::uint64_t line = (words->ebx & 0xfff) + 1;
      const std::uint64_t partitions = (words->ebx >> 12 & 0x3ff) + 1;
      const std::uint64_t ways = (words->ebx >> 22) + 1;
      const std::uint64_t sets = std::uint64_t{words->ecx} + 1;
      const std::uint32_t level = words->eax >> 5 & 0x7;
      constexpr std::uint64_t kLargest = std::uint64_t{64} << 30;
      const std::uint64_t set_bytes = line * partitions * ways;
      if (kind > 3 || level == 0 || sets > kLargest / set_bytes) continue;
      const std::uint64_t bytes = set_bytes * sets;
      caches.push_back({.level = level,
                        .kind = kind == 1   ? "data"
                                : kind == 2 ? "instruction"
                                            : "unified",
                        .bytes = bytes,
                        .line_bytes = line,
                        .sharers = std::uint64_t{words->eax >> 14 & 0xfff} + 1,
                        .source = fmt::format("CPUID {:#x}", number)});
    }
    if (!caches.empty()) return caches;
  }
  return {};
}

}  // namespace

std::string read_line_below(const std::string& path) {
  const auto text = tracee::read_whole(path);
  return text ? std::string(trimmed(*text)) : std::string();
}

std::uint64_t parse_size(std::string_view text) {
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = tracee::parse_number(text.substr(0, digits));
  if (!number || *number > (UINT64_MAX >> 30)) return 0;
  std::string_view unit = text.substr(digits);
  unit = trimmed(unit);
  if (unit.empty()) return *number;
  if (unit == "K" || unit == "kB" || unit == "KiB") return *number << 10;
  if (unit == "M" || unit == "MB" || unit == "MiB") return *number << 20;
  if (unit == "G") return *number << 30;
  return 0;
}

bool CpuLayout::shares_core(std::uint32_t left, std::uint32_t right) const {
  for (std::size_t at = 0; at < online.size() && at < siblings.size(); ++at)
    if (online[at] == left) return std::ranges::find(siblings[at], right) != siblings[at].end();
  return false;
}

CpuLayout read_layout(const MachineRoots& roots) {
  const std::string folder = roots.sys + "/devices/system/cpu";
  CpuLayout layout;
  layout.online = tracee::parse_cpu_list(read_line_below(folder + "/online"));
  layout.isolated = tracee::parse_cpu_list(read_line_below(folder + "/isolated"));
  for (const std::uint32_t cpu : layout.online) {
    auto siblings = tracee::parse_cpu_list(
        read_line_below(fmt::format("{}/cpu{}/topology/thread_siblings_list", folder, cpu)));
    if (std::ranges::find(siblings, cpu) == siblings.end()) siblings = {cpu};
    layout.siblings.push_back(std::move(siblings));
  }
  return layout;
}

std::vector<CacheLevel> read_caches(const MachineRoots& roots, const Cpuid& cpuid) {
  auto caches = caches_of_sysfs(roots);
  return caches.empty() ? caches_of_cpuid(cpuid) : caches;
}

std::vector<MachineFact> read_machine(const MachineRoots& roots, const Cpuid& cpuid) {
  std::vector<MachineFact> list;
  Facts facts(list);
  const std::string cpuinfo = read_line_below(roots.proc + "/cpuinfo");
  add_processor(roots, cpuid, cpuinfo, facts);
  add_frequencies(roots, cpuid, facts);
  add_counter(roots, cpuid, cpuinfo, facts);
  add_caches(roots, cpuid, facts);
  add_memory(roots, facts);
  for (MachineFact& fact : read_devices(roots)) list.push_back(std::move(fact));
  add_system(roots, facts);
  return list;
}

}  // namespace sojourn::host
