#include "userspace/capture/context/syscall_rate.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/context_events.h"
#include "sojourn_context.skel.h"
#include "userspace/base/fail_errno.h"

namespace sojourn::capture {

namespace {

struct DestroyRatePrograms {
  void operator()(sojourn_context* skeleton) const { sojourn_context__destroy(skeleton); }
  void operator()(bpf_link* link) const { bpf_link__destroy(link); }
};
using RateSkeleton = std::unique_ptr<sojourn_context, DestroyRatePrograms>;
using RateLink = std::unique_ptr<bpf_link, DestroyRatePrograms>;

// The cost of a call of any process, and the additional cost of one that is recorded, as measured
// by the bench of docs/capture.md.
constexpr double kSecondsOfAny = 294e-9;
constexpr double kSecondsMoreOfRecorded = 312e-9;

bool is_needed(std::string_view map) {
  return map == "calls" || map == "targets" || map.find('.') != map.npos;  // .bss and its like
}

Result<RateSkeleton> load_counter() {
  libbpf_set_print(nullptr);  // errors are ours to word
  RateSkeleton skeleton(sojourn_context__open());
  if (!skeleton) return fail_errno("open the embedded BPF object");
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, skeleton->obj)
      bpf_program__set_autoload(program, program == skeleton->progs.count_sys_enter);
  bpf_map* map = nullptr;
  bpf_object__for_each_map(map, skeleton->obj)
      bpf_map__set_autocreate(map, is_needed(bpf_map__name(map)));
  if (sojourn_context__load(skeleton.get()) != 0)
    return fail_errno("load the program that counts system calls");
  return skeleton;
}

Result<sj_calls> counted(const RateSkeleton& skeleton) {
  const int cpus = libbpf_num_possible_cpus();
  if (cpus < 0) return fail("count the CPUs: {}", std::generic_category().message(-cpus));
  std::vector<sj_calls> each(static_cast<std::size_t>(cpus));
  const std::uint32_t only = 0;
  if (bpf_map_lookup_elem(bpf_map__fd(skeleton->maps.calls), &only, each.data()) != 0)
    return fail_errno("read how many system calls there were");
  sj_calls sum = {};
  for (const sj_calls& here : each) {
    sum.all += here.all;
    sum.of_targets += here.of_targets;
  }
  return sum;
}

}  // namespace

double SyscallRate::share() const {
  const auto cpus = static_cast<double>(std::max(1U, std::thread::hardware_concurrency()));
  return (all_a_second * kSecondsOfAny + of_targets_a_second * kSecondsMoreOfRecorded) / cpus;
}

Result<SyscallRate> measure_syscalls(std::span<const pid_t> targets,
                                     std::chrono::milliseconds period) {
  using Clock = std::chrono::steady_clock;
  SJ_TRY(skeleton, load_counter());
  for (const pid_t pid : targets) {
    const auto tgid = static_cast<std::uint32_t>(pid);
    const std::uint8_t yes = 1;
    if (bpf_map_update_elem(bpf_map__fd(skeleton->maps.targets), &tgid, &yes, BPF_ANY) != 0)
      return fail_errno("register process {} with the BPF program", pid);
  }
  const RateLink link(bpf_program__attach(skeleton->progs.count_sys_enter));
  if (!link) return fail_errno("attach to the tracepoint sys_enter");
  const auto begin = Clock::now();
  SJ_TRY(before, counted(skeleton));
  std::this_thread::sleep_for(period);
  SJ_TRY(after, counted(skeleton));
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return SyscallRate{
      .all_a_second = static_cast<double>(after.all - before.all) / seconds,
      .of_targets_a_second = static_cast<double>(after.of_targets - before.of_targets) / seconds};
}

}  // namespace sojourn::capture
