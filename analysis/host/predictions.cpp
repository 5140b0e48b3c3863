#include "analysis/host/predictions.h"

#include <array>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace sojourn::host {

namespace {

// The costs that predictions start from: figures of the same run, else usual ones.
struct Bases {
  double cycle_ns;
  double tick_ns;
  double counter_ns;
  double ordered_ns;  // the counter, behind all earlier instructions
  double syscall_ns;
  double l2_ns;
  double l3_ns;
  double ram_ns;
  double copy_ns_a_page;
  double write_ns_a_page;
  double line_ns;
  double switch_ns;
  double fork_ns;
  double thread_ns;
  double fault_ns;
  double disk_ns;
  double tcp_ns;
};

constexpr double kPage = 4096;

double or_usual(const HostProfile& profile, std::string_view id, double usual) {
  const std::optional<double> measured = profile.median(id);
  return measured && *measured > 0 ? *measured : usual;
}

Bases bases_of(const HostProfile& profile) {
  const double copy = or_usual(profile, "memory.copy", 8e9);
  const double write = or_usual(profile, "memory.write", 8e9);
  return {.cycle_ns = or_usual(profile, "clocks.cycle", 0.33),
          .tick_ns = 1e9 / or_usual(profile, "clocks.frequency", 2.5e9),
          .counter_ns = or_usual(profile, "clocks.rdtsc", 8),
          .ordered_ns = or_usual(profile, "clocks.rdtscp", 14),
          .syscall_ns = or_usual(profile, "calls.syscall", 80),
          .l2_ns = or_usual(profile, "memory.latency.l2", 4),
          .l3_ns = or_usual(profile, "memory.latency.l3", 15),
          .ram_ns = or_usual(profile, "memory.latency.ram", 90),
          .copy_ns_a_page = kPage / copy * 1e9,
          .write_ns_a_page = kPage / write * 1e9,
          .line_ns = or_usual(profile, "cores.line", 60),
          .switch_ns = or_usual(profile, "switches.process", 1500),
          .fork_ns = or_usual(profile, "processes.fork", 80'000),
          .thread_ns = or_usual(profile, "processes.thread", 15'000),
          .fault_ns = or_usual(profile, "faults.minor", 500),
          .disk_ns = or_usual(profile, "files.direct_random.4k", 100'000),
          .tcp_ns = or_usual(profile, "network.tcp", 15'000)};
}

struct Estimate {
  std::optional<double> hardware;
  std::optional<double> software;
  std::string basis;
};

struct Rule {
  std::string_view id;  // a '*' at its end stands for any end
  Estimate (*estimate)(const Bases& bases, std::string_view id);
  std::string_view reason;  // for far more than predicted; empty: unknown
};

Estimate cycles(const Bases& on, double hardware, double software, std::string basis) {
  return {hardware * on.cycle_ns, software * on.cycle_ns, std::move(basis)};
}

Estimate procedure(const Bases& on, std::string_view id) {
  const int arguments = id.back() - '0';
  const double moved = 0.25 * std::min(arguments, 6) + (arguments > 6 ? 2 : 0);
  return cycles(on, 2, 1 + moved,
                "call and return 2 cycles; frame 1, each argument in a register 0.25, each on the "
                "stack 2");
}

Estimate by_vdso(const Bases& on, std::string_view) {
  return {on.ordered_ns, 20 * on.cycle_ns,
          "the counter behind all earlier instructions, as rdtscp; scaling it 20 cycles"};
}

constexpr std::string_view kVirtual =
    "in a virtual machine traps and interrupts between CPUs may go through the hypervisor";
constexpr std::string_view kOtherClock = "the clock source is not the cycle counter";
constexpr std::string_view kMitigated =
    "entry and exit are longer where the kernel works around faults of the processor";

const std::array kRules = {
    Rule{"clocks.loop",
         [](const Bases& on, std::string_view) {
           return cycles(on, 1, 0, "one taken branch a turn: 1 cycle");
         },
         ""},
    Rule{"clocks.rdtsc",
         [](const Bases& on, std::string_view) {
           return Estimate{24 * on.tick_ns, 0, "24 ticks, as processors of the last years take"};
         },
         kVirtual},
    Rule{"clocks.rdtscp",
         [](const Bases& on, std::string_view) {
           return Estimate{40 * on.tick_ns, 0, "40 ticks: it waits for earlier instructions"};
         },
         kVirtual},
    Rule{"clocks.monotonic_coarse",
         [](const Bases& on, std::string_view) {
           return cycles(on, 4, 8, "two loads of the kernel's page, and a call");
         },
         ""},
    Rule{"clocks.realtime_coarse",
         [](const Bases& on, std::string_view) {
           return cycles(on, 4, 8, "two loads of the kernel's page, and a call");
         },
         ""},
    Rule{"clocks.process_cpu",
         [](const Bases& on, std::string_view) {
           return Estimate{on.syscall_ns, 200 * on.cycle_ns, "a system call; adding up 200 cycles"};
         },
         "the kernel asks its scheduler, under a lock"},
    Rule{"clocks.thread_cpu",
         [](const Bases& on, std::string_view) {
           return Estimate{on.syscall_ns, 200 * on.cycle_ns, "a system call; adding up 200 cycles"};
         },
         "the kernel asks its scheduler, under a lock"},
    Rule{"clocks.bpf", [](const Bases& on, std::string_view) { return by_vdso(on, {}); },
         "the kernel reads its clock source by an indirect call, which costs more where it works "
         "around faults of the processor"},
    Rule{"clocks.monotonic", by_vdso, kOtherClock},
    Rule{"clocks.monotonic_raw", by_vdso, kOtherClock},
    Rule{"clocks.realtime", by_vdso, kOtherClock},
    Rule{"clocks.boottime", by_vdso, kOtherClock},
    Rule{"clocks.tai", by_vdso, kOtherClock},
    Rule{"calls.procedure*", procedure, ""},
    Rule{"calls.syscall",
         [](const Bases& on, std::string_view) {
           return cycles(on, 60, 140, "entry and exit 60 cycles; the kernel's frame 140");
         },
         kMitigated},
    Rule{"calls.vdso",
         [](const Bases& on, std::string_view) {
           return cycles(on, 2, 6, "a call and a load of the kernel's page");
         },
         ""},
    Rule{"processes.fork",
         [](const Bases& on, std::string_view) {
           return Estimate{100 * on.copy_ns_a_page, 300 * on.syscall_ns,
                           "100 pages copied or zeroed; the kernel's work as 300 system calls"};
         },
         "each page of page tables is copied, and pages are copied again when they are written"},
    Rule{"processes.fork_run",
         [](const Bases& on, std::string_view) {
           return Estimate{on.fork_ns + 2 * on.switch_ns, 300 * on.syscall_ns,
                           "creation, two switches; exit as 300 system calls"};
         },
         "the child copies the pages that it writes to"},
    Rule{"processes.spawn",
         [](const Bases& on, std::string_view) {
           return Estimate{300 * on.copy_ns_a_page, 1500 * on.syscall_ns,
                           "300 pages; exec, loading and exit as 1,500 system calls"};
         },
         "the program's pages are faulted in one by one"},
    Rule{"processes.thread",
         [](const Bases& on, std::string_view) {
           return Estimate{20 * on.ram_ns, 60 * on.syscall_ns,
                           "20 cache misses; the kernel's work as 60 system calls"};
         },
         "a stack is mapped for each thread"},
    Rule{"processes.thread_run",
         [](const Bases& on, std::string_view) {
           return Estimate{on.thread_ns, on.switch_ns + 20 * on.syscall_ns,
                           "creation, a switch; exit as 20 system calls"};
         },
         kVirtual},
    Rule{"switches.process",
         [](const Bases& on, std::string_view) {
           return Estimate{60 * on.l2_ns, 8 * on.syscall_ns,
                           "60 loads from L2 after the switch; the scheduler as 8 system calls"};
         },
         "page tables change, and branch prediction is flushed between processes"},
    Rule{"switches.thread",
         [](const Bases& on, std::string_view) {
           return Estimate{30 * on.l2_ns, 7 * on.syscall_ns,
                           "30 loads from L2 after the switch; the scheduler as 7 system calls"};
         },
         kMitigated},
    Rule{"switches.futex",
         [](const Bases& on, std::string_view) {
           return Estimate{30 * on.l2_ns, 10 * on.syscall_ns,
                           "30 loads from L2; waking, waiting and the scheduler as 10 system "
                           "calls"};
         },
         kMitigated},
    Rule{"switches.*_cross",
         [](const Bases& on, std::string_view) {
           return Estimate{4 * on.line_ns + 1000, 10 * on.syscall_ns,
                           "4 cache lines and an interrupt between CPUs (1 us); the scheduler as "
                           "10 system calls"};
         },
         "the CPU that is woken had gone to sleep; in a virtual machine the hypervisor wakes it"},
    Rule{"memory.latency.l1",
         [](const Bases& on, std::string_view) { return cycles(on, 4.5, 0, "4 or 5 cycles"); }, ""},
    Rule{"memory.latency.l2",
         [](const Bases& on, std::string_view) { return cycles(on, 14, 0, "14 cycles"); }, ""},
    Rule{"memory.latency.l3",
         [](const Bases& on, std::string_view) { return cycles(on, 50, 0, "50 cycles"); },
         "L3 is shared, also with other machines' guests, and small pages miss the TLB"},
    Rule{"memory.latency.ram_huge",
         [](const Bases&, std::string_view) {
           return Estimate{90, 0, "90 ns, as DDR4 and DDR5 have it"};
         },
         ""},
    Rule{"memory.latency.ram",
         [](const Bases&, std::string_view) {
           return Estimate{90, 0, "90 ns, as DDR4 and DDR5 have it"};
         },
         "with small pages each load also misses the TLB"},
    Rule{"memory.read",
         [](const Bases& on, std::string_view) {
           return Estimate{12 * 64 / on.ram_ns * 1e9, std::nullopt,
                           "12 cache lines under way at a time, each for a memory latency"};
         },
         "the prefetcher has more lines under way"},
    Rule{"memory.write",
         [](const Bases& on, std::string_view) {
           return Estimate{6 * 64 / on.ram_ns * 1e9, std::nullopt,
                           "each line is read and written back: half of reading"};
         },
         "the prefetcher has more lines under way"},
    Rule{"memory.copy",
         [](const Bases& on, std::string_view) {
           return Estimate{6 * 64 / on.ram_ns * 1e9, std::nullopt,
                           "a line read, and a line written without reading it: half of reading"};
         },
         "the prefetcher has more lines under way"},
    Rule{"faults.minor",
         [](const Bases& on, std::string_view) {
           return Estimate{on.write_ns_a_page + 300 * on.cycle_ns, 3 * on.syscall_ns,
                           "a page zeroed, an exception of 300 cycles; the kernel's work as 3 "
                           "system calls"};
         },
         "in a virtual machine page tables have two levels"},
    Rule{"faults.minor_file",
         [](const Bases& on, std::string_view) {
           return Estimate{300 * on.cycle_ns, 3 * on.syscall_ns,
                           "an exception of 300 cycles; the kernel's work as 3 system calls"};
         },
         "a fault maps up to 16 pages around the one that was touched"},
    Rule{"faults.major",
         [](const Bases& on, std::string_view) {
           return Estimate{on.disk_ns, on.fault_ns + 2 * on.switch_ns,
                           "a random read of 4 KiB; a minor fault and two switches"};
         },
         "the file system reads more than the page that was asked for"},
    Rule{"network.icmp",
         [](const Bases& on, std::string_view) {
           return Estimate{0, 40 * on.syscall_ns, "loopback: no hardware; 40 system calls"};
         },
         kVirtual},
    Rule{"network.udp",
         [](const Bases& on, std::string_view) {
           return Estimate{0, 60 * on.syscall_ns + 2 * on.switch_ns,
                           "loopback: no hardware; 60 system calls and two switches"};
         },
         kVirtual},
    Rule{"network.tcp",
         [](const Bases& on, std::string_view) {
           return Estimate{0, 80 * on.syscall_ns + 2 * on.switch_ns,
                           "loopback: no hardware; 80 system calls and two switches"};
         },
         kVirtual},
    Rule{"network.bandwidth",
         [](const Bases& on, std::string_view) {
           return Estimate{kPage / (2 * on.copy_ns_a_page) * 1e9, std::nullopt,
                           "every byte is copied twice"};
         },
         "sender and receiver work on two CPUs at the same time"},
    Rule{"network.connect",
         [](const Bases& on, std::string_view) {
           return Estimate{0, on.tcp_ns + 60 * on.syscall_ns,
                           "a round trip, and two sockets as 60 system calls"};
         },
         "on loopback the three packets are handled within connect(): nobody is woken"},
    Rule{"network.close",
         [](const Bases& on, std::string_view) {
           return Estimate{0, 20 * on.syscall_ns,
                           "20 system calls: it sends a FIN and waits for nobody"};
         },
         ""},
    Rule{"files.cached*",
         [](const Bases& on, std::string_view) {
           return Estimate{on.copy_ns_a_page, 0.5 * on.syscall_ns,
                           "a page copied; finding it half a system call"};
         },
         ""},
    Rule{"probes.nop*",
         [](const Bases& on, std::string_view) {
           return Estimate{600 * on.cycle_ns, 3 * on.syscall_ns,
                           "a trap and the return from it 600 cycles; the kernel's work as 3 "
                           "system calls"};
         },
         kVirtual},
    Rule{"probes.stepped",
         [](const Bases& on, std::string_view) {
           return Estimate{1400 * on.cycle_ns, 5 * on.syscall_ns,
                           "two traps 1,400 cycles; the kernel's work as 5 system calls"};
         },
         "single steps in a virtual machine leave it: 10 to 18 us are usual"},
    Rule{"probes.off",
         [](const Bases& on, std::string_view) {
           return cycles(on, 0.5, 0, "two loads and a branch beside other work");
         },
         ""},
    Rule{"probes.ring",
         [](const Bases& on, std::string_view) {
           return Estimate{on.counter_ns, 0.3 * on.counter_ns,
                           "the cycle counter; filling the record a third of it"};
         },
         ""},
    Rule{"cores.line",
         [](const Bases& on, std::string_view) {
           return Estimate{4 * on.l3_ns, std::nullopt, "four times L3"};
         },
         kVirtual},
    Rule{"cores.wakeup",
         [](const Bases& on, std::string_view) {
           return Estimate{on.line_ns + 1000, 8 * on.syscall_ns,
                           "a cache line and an interrupt between CPUs (1 us); 8 system calls"};
         },
         "the CPU that is woken had gone to sleep; in a virtual machine the hypervisor wakes it"},
    Rule{"cores.timer",
         [](const Bases& on, std::string_view) {
           return Estimate{1000, 8 * on.syscall_ns,
                           "an interrupt (1 us); the scheduler as 8 system calls"};
         },
         kVirtual},
    Rule{"cores.timer_slack",
         [](const Bases& on, std::string_view) {
           return Estimate{1000, 50'000 + 8 * on.syscall_ns,
                           "an interrupt (1 us); 50 us of slack, which Linux takes by default"};
         },
         ""},
};

bool matches(std::string_view pattern, std::string_view id) {
  const auto star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == id;
  const std::string_view before = pattern.substr(0, star);
  const std::string_view behind = pattern.substr(star + 1);
  return id.size() >= before.size() + behind.size() && id.starts_with(before) &&
         id.ends_with(behind);
}

// Circumstances that explain a deviation.
struct Circumstances {
  bool is_virtual = false;
  bool has_counter_clock = false;
};

std::string reason_of(const Measurement& one, const Rule& rule, const Circumstances& machine) {
  const std::optional<double> deviation = one.deviation();
  if (!deviation || std::abs(*deviation) < kLargeDeviation) return {};
  if (!one.unstable.empty()) return "the samples are not stable: " + one.unstable;
  const bool is_worse = one.is_less_better == (*deviation > 0);
  if (rule.reason == kVirtual && !machine.is_virtual) return "not known";
  if (rule.reason == kOtherClock && machine.has_counter_clock) return "not known";
  // The reason explains why a result is slow, and not why it is fast. For bandwidths more is fast.
  if (rule.reason.empty() || is_worse != one.is_less_better)
    return is_worse ? "not known" : "the estimate is too high for this machine";
  return std::string(rule.reason);
}

}  // namespace

void predict(HostProfile& profile) {
  const Bases bases = bases_of(profile);
  const MachineFact* const hypervisor = profile.fact("virtual");
  const MachineFact* const clock = profile.fact("clocksource");
  const Circumstances machine = {
      .is_virtual =
          hypervisor != nullptr && !hypervisor->value.empty() && hypervisor->value != "no",
      .has_counter_clock =
          clock != nullptr && (clock->value == "tsc" || clock->value == "arch_sys_counter")};
  for (Measurement& one : profile.measurements) {
    for (const Rule& rule : kRules) {
      if (!matches(rule.id, one.id)) continue;
      Estimate estimate = rule.estimate(bases, one.id);
      one.hardware = estimate.hardware;
      one.software = estimate.software;
      one.basis = std::move(estimate.basis);
      if (one.reason.empty()) one.reason = reason_of(one, rule, machine);
      break;
    }
  }
}

}  // namespace sojourn::host
