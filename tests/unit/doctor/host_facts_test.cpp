// The facts in the files of different machines.
#include "userspace/doctor/host_facts.h"

#include <catch2/catch_test_macros.hpp>

#include "tests/unit/doctor/machines.h"

namespace sojourn::doctor {
namespace {

TEST_CASE("an empty machine has no facts, and that is no error") {
  const HostFacts facts = Tree().read();
  CHECK(facts.kernel.empty());
  CHECK(!facts.has_btf);
  CHECK(facts.capabilities == 0);
  CHECK(!facts.perf_event_paranoid);
  CHECK(facts.lockdown.empty());
  CHECK(!facts.has_steady_counter);
  CHECK(!facts.smt);
  CHECK(facts.energy_zones.empty());
  CHECK(facts.cgroups == Cgroups::kNone);
  CHECK(!facts.memlock_bytes);
}

TEST_CASE("kernel, rights and settings are read") {
  Tree tree;
  tree.file("/proc/sys/kernel/osrelease", "6.1.0-26-amd64\n")
      .file("/proc/sys/kernel/perf_event_paranoid", "-1\n")
      .file("/proc/sys/kernel/unprivileged_bpf_disabled", "2\n")
      .file("/proc/sys/kernel/yama/ptrace_scope", "1\n")
      .file("/proc/self/status", "Name:\tsojourn\nCapEff:\t000000c000000000\n")
      .file("/sys/kernel/security/lockdown", "none integrity [confidentiality]\n")
      .file("/sys/kernel/btf/vmlinux", "btf");
  const HostFacts facts = tree.read();
  CHECK(facts.kernel == "6.1.0-26-amd64");
  CHECK(facts.perf_event_paranoid == -1);
  CHECK(facts.unprivileged_bpf_disabled == 2);
  CHECK(facts.yama == 1);
  CHECK(facts.has_capability(38));
  CHECK(facts.has_capability(39));
  CHECK(!facts.has_capability(19));
  CHECK(facts.lockdown == "confidentiality");
  CHECK(facts.has_btf);
}

TEST_CASE("a counter is steady only when it neither changes its rate nor sleeps") {
  Tree tree;
  tree.file("/proc/cpuinfo", "model name\t: A CPU\nflags\t\t: fpu constant_tsc sse\n");
  CHECK(!tree.read().has_steady_counter);
  CHECK(tree.read().cpu == "A CPU");
  tree.file("/proc/cpuinfo", "flags\t\t: fpu constant_tsc nonstop_tsc sse\n");
  CHECK(tree.read().has_steady_counter);
  tree.file("/proc/cpuinfo", "CPU implementer\t: 0x41\n");
  CHECK(tree.read().has_steady_counter);
}

TEST_CASE("CPUs, their governors, isolation and SMT are read") {
  Tree tree;
  const std::string cpus = "/sys/devices/system/cpu";
  tree.file(cpus + "/online", "0-3\n")
      .file(cpus + "/isolated", "2-3\n")
      .file(cpus + "/nohz_full", "(null)\n")
      .file(cpus + "/smt/active", "1\n")
      .file(cpus + "/cpu0/cpufreq/scaling_governor", "schedutil\n")
      .file(cpus + "/cpu1/cpufreq/scaling_governor", "schedutil\n")
      .file(cpus + "/cpu2/cpufreq/scaling_governor", "performance\n")
      .file("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
  const HostFacts facts = tree.read();
  CHECK(facts.cpus_online == "0-3");
  CHECK(facts.isolated == "2-3");
  CHECK(facts.nohz_full.empty());
  CHECK(facts.smt == true);
  CHECK(facts.governors == std::vector<std::string>{"schedutil", "performance"});
  CHECK(facts.clocksource == "hpet");
}

TEST_CASE("unreadable energy zones are distinguished from readable ones") {
  Tree tree;
  const std::string zones = "/sys/class/powercap";
  tree.file(zones + "/intel-rapl:0/name", "package-0\n")
      .file(zones + "/intel-rapl:0/energy_uj", "123456\n")
      .file(zones + "/intel-rapl:0:1/name", "dram\n")
      .file(zones + "/dtpm/name", "other\n");
  const HostFacts facts = tree.read();
  CHECK(facts.energy_zones == std::vector<std::string>{"package-0"});
  CHECK(facts.energy_refused == std::vector<std::string>{"dram"});
}

TEST_CASE("cgroup versions and their memory limits are read") {
  Tree v2;
  v2.file("/sys/fs/cgroup/cgroup.controllers", "memory")
      .file("/proc/self/cgroup", "0::/user.slice\n")
      .file("/sys/fs/cgroup/user.slice/memory.max", "268435456\n");
  CHECK(v2.read().cgroups == Cgroups::kV2);
  CHECK(v2.read().cgroup_memory_bytes == 268435456);
  v2.file("/sys/fs/cgroup/user.slice/memory.max", "max\n");
  CHECK(!v2.read().cgroup_memory_bytes);

  Tree v1;
  v1.file("/proc/self/cgroup", "4:memory:/job\n0::/\n")
      .file("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1048576\n");
  CHECK(v1.read().cgroups == Cgroups::kV1);
  CHECK(v1.read().cgroup_memory_bytes == 1048576);
  v1.file("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK(!v1.read().cgroup_memory_bytes);
  v1.file("/sys/fs/cgroup/unified/cgroup.controllers", "");
  CHECK(v1.read().cgroups == Cgroups::kHybrid);
}

TEST_CASE("limits and free memory are read in bytes") {
  Tree tree;
  tree.file("/proc/self/limits",
            "Limit                     Soft Limit           Hard Limit           Units     \n"
            "Max locked memory         8388608              8388608              bytes     \n")
      .file("/proc/meminfo", "MemTotal:       1000 kB\nMemAvailable:    512 kB\n");
  CHECK(tree.read().memlock_bytes == 8388608);
  CHECK(tree.read().available_bytes == 512 * 1024);
  tree.file("/proc/self/limits",
            "Max locked memory         unlimited            unlimited            bytes     \n");
  CHECK(!tree.read().memlock_bytes);
}

}  // namespace
}  // namespace sojourn::doctor
