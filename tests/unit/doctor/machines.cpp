#include "tests/unit/doctor/machines.h"

#include <filesystem>

namespace sojourn::doctor {

Tree& Tree::file(const std::string& path, const std::string& text) {
  const std::filesystem::path whole = directory_.path() + path;
  std::filesystem::create_directories(whole.parent_path());
  test::write_contents(whole, text);
  return *this;
}

HostFacts Tree::read() const {
  return read_host({.proc = directory_.path("proc"), .sys = directory_.path("sys")});
}

HostFacts virtual_machine() {
  HostFacts facts;
  facts.kernel = "6.18.44";
  facts.cpu = "Intel(R) Xeon(R) Processor";
  facts.cpus_online = "0-1";
  facts.has_btf = true;
  facts.capabilities = 0x1fffeffffff;  // all but CAP_SYS_RESOURCE
  facts.perf_event_paranoid = 2;
  facts.unprivileged_bpf_disabled = 2;
  facts.lockdown = "integrity";
  facts.clocksource = "tsc";
  facts.has_steady_counter = true;
  facts.smt = false;
  facts.cgroups = Cgroups::kHybrid;
  facts.memlock_bytes = 8 << 20;
  facts.available_bytes = std::uint64_t{20} << 30;
  return facts;
}

HostFacts radio_host() {
  HostFacts facts = virtual_machine();
  facts.kernel = "6.1.0-26-rt-amd64";
  facts.cpus_online = "0-15";
  facts.isolated = "2-15";
  facts.nohz_full = "2-15";
  facts.governors = {"performance"};
  facts.smt = true;
  facts.yama = 1;
  facts.energy_zones = {"package-0", "core"};
  facts.cgroups = Cgroups::kV2;
  facts.memlock_bytes.reset();
  facts.cgroup_memory_bytes = std::uint64_t{200} << 20;
  return facts;
}

HostAnswers new_kernel() {
  HostAnswers answers;
  answers.machine = "x86_64";
  answers.ring_hit = capture::HitCost({{1, 9'300}, {5, 9'750}, {10, 11'250}}, 0);
  answers.clocks = {.resolution_ns = 1, .pair_error_ns = 48, .counter_error_ns = 11};
  answers.counters.others = {{.cpu = 1, .ns = -12, .error_ns = 95}};
  answers.why_not_hardware_counters = "No such file or directory";
  answers.bpf = BpfAnswers{
      .mechanism = capture::Mechanism::kUprobeMulti,
      .pid = {.counts_threads = true, .counts_others = false},
      .costs = {.hit = capture::HitCost({{0, 441'000}, {8, 447'000}, {16, 452'000}}, 23'500),
                .stamp_delay_ns = 306,
                .stamp_spread_ns = 299},
      .nops = {{.bytes = 1, .refused = {}, .hit_ps = 430'000},
               {.bytes = 5,
                .refused = {},
                .is_optimised = true,
                .keeps_red_zone = false,
                .keeps_children = false,
                .hit_ps = 246'000},
               {.bytes = 10, .refused = "the kernel refuses to probe this instruction"}},
      .stepped_hit_ps = 13'900'000};
  return answers;
}

HostAnswers old_kernel() {
  HostAnswers answers = new_kernel();
  answers.why_not_hardware_counters.clear();
  answers.bpf->mechanism = capture::Mechanism::kPerfUprobes;
  answers.bpf->nops = {{.bytes = 1, .refused = {}, .hit_ps = 920'000}};
  answers.bpf->stepped_hit_ps = 1'400'000;
  return answers;
}

}  // namespace sojourn::doctor
