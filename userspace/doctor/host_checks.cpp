#include "userspace/doctor/host_checks.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "userspace/capture/api.h"

namespace sojourn::doctor {

namespace {

using nlohmann::ordered_json;

// Numbers of linux/capability.h.
enum Capability : unsigned {
  kSysPtrace = 19,
  kSysAdmin = 21,
  kSysResource = 24,
  kPerfmon = 38,
  kBpf = 39
};

bool has_or_is_admin(const HostFacts& facts, Capability capability) {
  return facts.has_capability(capability) || facts.has_capability(kSysAdmin);
}

double ns(std::uint64_t ps) {
  return static_cast<double>(ps) / 1000;
}

std::string mebibytes(std::uint64_t bytes) {
  return fmt::format("{} MiB", bytes >> 20);
}

Check make(std::string id, std::string title, CheckStatus verdict, std::string finding,
           std::string advice = {}) {
  return {.id = std::move(id),
          .title = std::move(title),
          .verdict = verdict,
          .finding = std::move(finding),
          .advice = std::move(advice)};
}

// ---- the kernel and the rights ----

Check kernel(const HostFacts& facts, const HostAnswers& answers) {
  Check check = make("kernel", "kernel", CheckStatus::kPass,
                     fmt::format("Linux {} {}, CPUs {}{}{}", facts.kernel, answers.machine,
                                 facts.cpus_online, facts.cpu.empty() ? "" : ", ", facts.cpu));
  check.values = {{"release", facts.kernel},
                  {"machine", answers.machine},
                  {"cpus_online", facts.cpus_online},
                  {"cpu", facts.cpu}};
  return check;
}

Check btf(const HostFacts& facts) {
  if (facts.has_btf)
    return make("btf", "type information", CheckStatus::kPass,
                "the kernel describes its types (BTF)");
  return make(
      "btf", "type information", CheckStatus::kDegraded,
      "the kernel does not describe its types (BTF)",
      "points can be recorded; for kernel context boot a kernel with CONFIG_DEBUG_INFO_BTF");
}

Check rights(const HostFacts& facts) {
  const bool bpf = has_or_is_admin(facts, kBpf);
  const bool perfmon = has_or_is_admin(facts, kPerfmon);
  std::vector<std::string_view> missing;
  if (!bpf) missing.emplace_back("CAP_BPF");
  if (!perfmon) missing.emplace_back("CAP_PERFMON");
  const bool can_trap = missing.empty();
  if (!facts.has_capability(kSysPtrace)) missing.emplace_back("CAP_SYS_PTRACE");
  Check check =
      make("rights", "rights", CheckStatus::kPass, "CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE");
  if (!missing.empty()) {
    check.verdict = CheckStatus::kDegraded;
    check.finding = fmt::format("without {}", fmt::join(missing, ", "));
    check.advice = can_trap ? "other users' processes cannot be looked into: run as root"
                            : "only rings can be recorded, of your own processes: run as root, or "
                              "setcap cap_bpf,cap_perfmon,cap_sys_ptrace+ep on this program";
  }
  const auto setting = [](const std::optional<int>& value) {
    return value ? ordered_json(*value) : ordered_json(nullptr);
  };
  check.values = {{"bpf", bpf},
                  {"perfmon", perfmon},
                  {"sys_ptrace", facts.has_capability(kSysPtrace)},
                  {"sys_resource", facts.has_capability(kSysResource)},
                  {"perf_event_paranoid", setting(facts.perf_event_paranoid)},
                  {"unprivileged_bpf_disabled", setting(facts.unprivileged_bpf_disabled)},
                  {"yama_ptrace_scope", setting(facts.yama)}};
  return check;
}

Check settings(const HostFacts& facts) {
  const auto said = [](const std::optional<int>& value) {
    return value ? std::to_string(*value) : std::string("absent");
  };
  const bool paranoid =
      facts.perf_event_paranoid.value_or(0) > 2 && !has_or_is_admin(facts, kPerfmon);
  // Yama restricts debuggers (PTRACE_MODE_ATTACH), which sojourn is not.
  return make("settings", "settings", paranoid ? CheckStatus::kDegraded : CheckStatus::kPass,
              fmt::format("perf_event_paranoid {}, unprivileged_bpf_disabled {}, yama {}{}",
                          said(facts.perf_event_paranoid), said(facts.unprivileged_bpf_disabled),
                          said(facts.yama), paranoid ? "" : ": none of them stands in the way"),
              paranoid ? "no counters: sysctl kernel.perf_event_paranoid=2, or CAP_PERFMON" : "");
}

Check lockdown(const HostFacts& facts) {
  if (facts.lockdown == "confidentiality")
    return make("lockdown", "lockdown", CheckStatus::kDegraded,
                "confidentiality: BPF programs may not read the kernel's memory",
                "points can be recorded, kernel context cannot: boot with lockdown=integrity");
  return make("lockdown", "lockdown", CheckStatus::kPass,
              facts.lockdown.empty() ? "not told (securityfs is not mounted, or without lockdown)"
                                     : facts.lockdown);
}

// ---- eBPF ----

Check uprobes(const HostAnswers& answers) {
  if (!answers.bpf)
    return make("uprobes", "probes", CheckStatus::kNo, answers.why_not_bpf,
                "rings can be recorded without; for eBPF see the lines above");
  const BpfAnswers& bpf = *answers.bpf;
  const bool multi = bpf.mechanism == capture::Mechanism::kUprobeMulti;
  Check check = make("uprobes", "probes", CheckStatus::kPass,
                     "uprobe_multi links: tried on a process of our own, they count all of its "
                     "threads and no other process");
  if (!multi) {
    check.verdict = CheckStatus::kDegraded;
    check.finding = "perf uprobes: no uprobe_multi links that filter by process";
    check.advice =
        "works, but every process that maps the same files traps, and removing takes up to 0.1 s a "
        "probe: Linux 6.10 has better";
  }
  if (!bpf.pid.counts_threads || bpf.pid.counts_others) {
    check.verdict = CheckStatus::kNo;
    check.finding = fmt::format(
        "{}: a probe on a process of our own {}", name(bpf.mechanism),
        bpf.pid.counts_threads ? "counted another process's hits" : "missed the hits of a thread");
    check.advice = "use rings (--engine ring), or another kernel";
  }
  check.values = {{"mechanism", std::string(name(bpf.mechanism))},
                  {"counts_threads", bpf.pid.counts_threads},
                  {"counts_others", bpf.pid.counts_others}};
  return check;
}

std::string harm_of(const NopAnswer& nop) {
  if (!nop.keeps_red_zone && !nop.keeps_children)
    return "overwrites a leaf function's red zone and kills forked children";
  return nop.keeps_red_zone ? "kills forked children" : "overwrites a leaf function's red zone";
}

std::string words_of(const NopAnswer& nop) {
  if (!nop.refused.empty()) return fmt::format("{} bytes: refused ({})", nop.bytes, nop.refused);
  return fmt::format("{} byte{}: {}{}, {}", nop.bytes, nop.bytes == 1 ? "" : "s",
                     nanoseconds(nop.hit_ps), nop.is_optimised ? ", optimised" : "",
                     nop.is_safe() ? "safe" : harm_of(nop));
}

Check nops(const BpfAnswers& bpf) {
  std::vector<std::string> words;
  Check check = make("nops", "nops", CheckStatus::kPass, {});
  auto list = ordered_json::array();
  for (const NopAnswer& nop : bpf.nops) {
    words.push_back(words_of(nop));
    ordered_json one = {{"bytes", nop.bytes}, {"usable", nop.refused.empty()}};
    if (nop.refused.empty()) {
      one["optimised"] = nop.is_optimised;
      one["keeps_red_zone"] = nop.keeps_red_zone;
      one["keeps_children"] = nop.keeps_children;
      one["hit_ns"] = ns(nop.hit_ps);
    }
    list.push_back(std::move(one));
  }
  check.finding = fmt::format("{}", fmt::join(words, "; "));
  const NopAnswer& plain = bpf.nops.front();
  if (!plain.refused.empty() || !plain.is_safe()) {
    check.verdict = CheckStatus::kNo;
    check.advice = "do not attach on this kernel: use rings (--engine ring)";
  } else if (std::ranges::any_of(bpf.nops, [](const NopAnswer& nop) { return !nop.is_safe(); })) {
    check.advice = "nothing to do: points are 1-byte nops, and an unsafe one is never attached to";
  }
  check.values["nops"] = std::move(list);
  return check;
}

Check hit_cost(const BpfAnswers& bpf) {
  auto list = ordered_json::array();
  std::vector<std::string> words;
  for (const auto& at : bpf.costs.hit.measured()) {
    words.push_back(fmt::format("{} with {}", nanoseconds(at.ps), at.args));
    list.push_back({{"args", at.args}, {"hit_ns", ns(at.ps)}});
  }
  Check check = make(
      "bpf_cost", "eBPF hit", CheckStatus::kPass,
      fmt::format("{} arguments; {} more for each in memory; stamped {} ns after the site is "
                  "reached, 99 of 100 within {} ns",
                  fmt::join(words, ", "), nanoseconds(bpf.costs.hit.memory_argument_ps()),
                  bpf.costs.stamp_delay_ns, bpf.costs.stamp_delay_ns + bpf.costs.stamp_spread_ns));
  check.values = {{"costs", std::move(list)},
                  {"memory_argument_ns", ns(bpf.costs.hit.memory_argument_ps())},
                  {"stamp_delay_ns", bpf.costs.stamp_delay_ns},
                  {"stamp_spread_ns", bpf.costs.stamp_spread_ns}};
  return check;
}

Check stepped(const BpfAnswers& bpf) {
  if (bpf.stepped_hit_ps == 0)
    return make("single_step", "single step", CheckStatus::kDegraded, "could not be measured");
  constexpr std::uint64_t kDear = 3'000'000;
  const bool dear = bpf.stepped_hit_ps > kDear;
  Check check =
      make("single_step", "single step", dear ? CheckStatus::kDegraded : CheckStatus::kPass,
           fmt::format("{} a hit where the kernel cannot emulate the instruction",
                       nanoseconds(bpf.stepped_hit_ps)),
           dear ? "points are nops and never stepped; keep probes off other instructions" : "");
  check.values = {{"hit_ns", ns(bpf.stepped_hit_ps)}};
  return check;
}

// ---- rings and clocks ----

Check rings(const HostFacts& facts, const HostAnswers& answers) {
  const bool steady = facts.has_steady_counter;
  Check check =
      make("ring_cost", "ring hit", steady ? CheckStatus::kPass : CheckStatus::kNo,
           steady ? fmt::format("about {} with 5 fields (from the cycle counter's own cost)",
                                nanoseconds(answers.ring_hit.ps(5)))
                  : "the cycle counter does not tick steadily (constant_tsc, nonstop_tsc)",
           steady ? "" : "stamps of rings would be wrong: record by eBPF (--engine bpf)");
  auto list = ordered_json::array();
  for (const auto& at : answers.ring_hit.measured())
    list.push_back({{"fields", at.args}, {"hit_ns", ns(at.ps)}});
  check.values = {{"costs", std::move(list)}, {"steady_counter", steady}};
  return check;
}

Check clocks(const HostFacts& facts, const HostAnswers& answers) {
  const ClockAnswers& clock = answers.clocks;
  const bool slow = facts.clocksource == "hpet" || facts.clocksource == "acpi_pm" ||
                    facts.clocksource == "jiffies" || clock.resolution_ns > 1000;
  Check check = make(
      "clocks", "clocks", slow ? CheckStatus::kDegraded : CheckStatus::kPass,
      fmt::format("{}, resolution {} ns; read with the wall's clock within {} ns, with the cycle "
                  "counter within {} ns",
                  facts.clocksource.empty() ? "source not told" : facts.clocksource,
                  clock.resolution_ns, clock.pair_error_ns, clock.counter_error_ns),
      slow ? "reading this clock is slow and coarse: boot with clocksource=tsc where it is stable"
           : "");
  check.values = {{"source", facts.clocksource},
                  {"resolution_ns", clock.resolution_ns},
                  {"pair_error_ns", clock.pair_error_ns},
                  {"counter_error_ns", clock.counter_error_ns}};
  return check;
}

Check cycle_counters(const HostAnswers& answers) {
  const capture::CounterOffsets& found = answers.counters;
  if (!found.why_not.empty())
    return make("cycle_counters", "cycle counters", CheckStatus::kPass,
                fmt::format("not compared: {}", found.why_not));
  double furthest = 0;
  double error = 0;
  std::vector<std::string> apart;
  auto list = ordered_json::array();
  for (const capture::CounterOffset& each : found.others) {
    furthest = std::max(furthest, std::abs(each.ns));
    error = std::max(error, each.error_ns);
    if (each.is_apart())
      apart.push_back(
          fmt::format("CPU {} {:+.0f} ns (known to {:.0f})", each.cpu, each.ns, each.error_ns));
    list.push_back({{"cpu", each.cpu},
                    {"offset_ns", each.ns},
                    {"error_ns", each.error_ns},
                    {"apart", each.is_apart()}});
  }
  std::string finding =
      apart.empty()
          ? fmt::format(
                "of {} CPUs agree as far as can be told: offsets of at most {:.0f} ns, known "
                "to {:.0f}",
                found.others.size() + 1, furthest, error)
          : fmt::format("differ from CPU {}'s: {}", found.first_cpu, fmt::join(apart, ", "));
  if (found.silent != 0) finding += fmt::format("; {} did not answer in time", found.silent);
  Check check = make(
      "cycle_counters", "cycle counters",
      apart.empty() ? CheckStatus::kPass : CheckStatus::kDegraded, std::move(finding),
      apart.empty() ? ""
                    : "record corrects stamps of rings by it; those of threads that change between "
                      "these CPUs all the time stay uncertain: --engine bpf stamps by the kernel's "
                      "clock");
  check.values = {{"first_cpu", found.first_cpu}, {"offsets", std::move(list)}};
  return check;
}

// ---- the CPUs ----

Check isolation(const HostFacts& facts) {
  const bool any = !facts.isolated.empty() || !facts.nohz_full.empty();
  const auto said = [](const std::string& cpus) { return cpus.empty() ? "none" : cpus; };
  Check check =
      make("isolation", "CPU isolation", any ? CheckStatus::kPass : CheckStatus::kDegraded,
           fmt::format("isolcpus {}, nohz_full {}", said(facts.isolated), said(facts.nohz_full)),
           any ? ""
               : "others run on the target's CPUs as well, and this tracer: isolcpus= and "
                 "nohz_full= for "
                 "its real-time threads");
  check.values = {{"isolated", facts.isolated}, {"nohz_full", facts.nohz_full}};
  return check;
}

Check governor(const HostFacts& facts) {
  Check check =
      make("governor", "CPU speed", CheckStatus::kPass, "no frequency governor (as in most VMs)");
  const bool steady = std::ranges::all_of(
      facts.governors, [](const std::string& governor) { return governor == "performance"; });
  if (!facts.governors.empty())
    check.finding = fmt::format("governor {}", fmt::join(facts.governors, ", "));
  if (!steady) {
    check.verdict = CheckStatus::kDegraded;
    check.advice = "latencies change with the clock's speed: cpupower frequency-set -g performance";
  }
  check.values = {{"governors", facts.governors}};
  return check;
}

Check smt(const HostFacts& facts) {
  Check check = make("smt", "SMT", CheckStatus::kPass, facts.smt ? "off" : "not told");
  if (facts.smt.value_or(false)) {
    check.verdict = CheckStatus::kDegraded;
    check.finding = "on: two CPUs share one core";
    check.advice = "a neighbour on the same core slows a thread: keep siblings of its CPUs free";
  }
  check.values = {{"active", facts.smt ? ordered_json(*facts.smt) : ordered_json(nullptr)}};
  return check;
}

// ---- counters, energy, memory ----

Check counters(const HostAnswers& answers) {
  Check check = make("pmu", "counters", CheckStatus::kPass, "hardware and software counters");
  if (!answers.why_not_software_counters.empty()) {
    check.verdict = CheckStatus::kNo;
    check.finding = "no counters: " + answers.why_not_software_counters;
    check.advice = "run as root, or with CAP_PERFMON";
  } else if (!answers.why_not_hardware_counters.empty()) {
    check.verdict = CheckStatus::kDegraded;
    check.finding =
        fmt::format("software counters only; hardware: {}", answers.why_not_hardware_counters);
    check.advice = "a virtual machine needs a virtual PMU from its host";
  }
  check.values = {{"hardware", answers.why_not_hardware_counters.empty()},
                  {"software", answers.why_not_software_counters.empty()}};
  return check;
}

Check energy(const HostFacts& facts) {
  Check check = make("energy", "energy", CheckStatus::kPass,
                     fmt::format("RAPL: {}", fmt::join(facts.energy_zones, ", ")));
  if (facts.energy_zones.empty()) {
    check.verdict = CheckStatus::kNo;
    check.finding =
        facts.energy_refused.empty()
            ? "no RAPL zones below /sys/class/powercap"
            : fmt::format("RAPL {} may not be read", fmt::join(facts.energy_refused, ", "));
    check.advice = facts.energy_refused.empty()
                       ? "energy cannot be measured here; nothing else misses it"
                       : "run as root";
  }
  check.values = {{"zones", facts.energy_zones}};
  return check;
}

Check cgroups(const HostFacts& facts) {
  switch (facts.cgroups) {
    case Cgroups::kV2:
      return make("cgroups", "cgroups", CheckStatus::kPass, "version 2");
    case Cgroups::kHybrid:
      return make("cgroups", "cgroups", CheckStatus::kDegraded, "versions 1 and 2 side by side",
                  "a version 1 group is traced by the list of its processes");
    case Cgroups::kV1:
      return make("cgroups", "cgroups", CheckStatus::kDegraded, "version 1",
                  "a group is traced by the list of its processes");
    case Cgroups::kNone:
      break;
  }
  return make("cgroups", "cgroups", CheckStatus::kDegraded, "none mounted at /sys/fs/cgroup",
              "processes are chosen by PID");
}

Check memory(const HostFacts& facts) {
  // Rings of all CPUs by default, and events on their way to the disk.
  constexpr std::uint64_t kWanted = std::uint64_t{256 + 80} << 20;
  const std::uint64_t free =
      std::min(facts.available_bytes, facts.cgroup_memory_bytes.value_or(UINT64_MAX));
  const bool tight = free < kWanted;
  Check check = make(
      "memory", "memory", tight ? CheckStatus::kDegraded : CheckStatus::kPass,
      fmt::format("{} available, cgroup limit {}, lockable {}", mebibytes(facts.available_bytes),
                  facts.cgroup_memory_bytes ? mebibytes(*facts.cgroup_memory_bytes) : "none",
                  facts.memlock_bytes ? mebibytes(*facts.memlock_bytes) : "without limit"),
      tight ? fmt::format("a capture may take {}: choose a smaller --ring-size", mebibytes(kWanted))
            : "");
  const auto limit = [](const std::optional<std::uint64_t>& bytes) {
    return bytes ? ordered_json(*bytes) : ordered_json(nullptr);
  };
  check.values = {{"available_bytes", facts.available_bytes},
                  {"cgroup_limit_bytes", limit(facts.cgroup_memory_bytes)},
                  {"memlock_bytes", limit(facts.memlock_bytes)}};
  return check;
}

}  // namespace

bool may_use_bpf(const HostFacts& facts) {
  return has_or_is_admin(facts, kBpf) && has_or_is_admin(facts, kPerfmon);
}

bool may_look_into_others(const HostFacts& facts) {
  return facts.has_capability(kSysPtrace);
}

std::string nanoseconds(std::uint64_t ps) {
  const double value = ns(ps);
  if (value >= 1000) return fmt::format("{:.3g} us", value / 1000);
  return value >= 100 ? fmt::format("{:.0f} ns", value) : fmt::format("{:.3g} ns", value);
}

Diagnosis judge_host(const HostFacts& facts, const HostAnswers& answers) {
  Diagnosis diagnosis;
  auto& checks = diagnosis.checks;
  checks = {kernel(facts, answers), btf(facts),      rights(facts),
            settings(facts),        lockdown(facts), uprobes(answers)};
  if (checks.back().verdict == CheckStatus::kNo) diagnosis.ways.why_not_bpf = checks.back().finding;
  if (answers.bpf) {
    checks.push_back(nops(*answers.bpf));
    if (checks.back().verdict == CheckStatus::kNo)
      diagnosis.ways.why_not_bpf = checks.back().finding;
    checks.push_back(hit_cost(*answers.bpf));
    checks.push_back(stepped(*answers.bpf));
  }
  checks.push_back(rings(facts, answers));
  if (checks.back().verdict == CheckStatus::kNo)
    diagnosis.ways.why_not_rings = checks.back().finding;
  for (Check& check : std::vector{clocks(facts, answers), cycle_counters(answers), isolation(facts),
                                  governor(facts), smt(facts), counters(answers), energy(facts),
                                  cgroups(facts), memory(facts)})
    checks.push_back(std::move(check));
  return diagnosis;
}

}  // namespace sojourn::doctor
