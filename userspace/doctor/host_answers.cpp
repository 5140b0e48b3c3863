#include "userspace/doctor/host_answers.h"

#include <string_view>

#include <sys/utsname.h>

#include "bpf/events.h"
#include "userspace/base/clock.h"
#include "userspace/capture/api.h"
#include "userspace/doctor/probe_trials.h"

namespace sojourn::doctor {

namespace {

// Empty: the counter is available.
std::string why_no_counter(std::string_view name) {
  return capture::ask_perf(*capture::perf_kind(name)).missing;
}

ClockAnswers ask_clocks() {
  timespec resolution{};
  clock_getres(CLOCK_MONOTONIC, &resolution);
  ClockAnswers answers;
  answers.resolution_ns = static_cast<std::uint64_t>(resolution.tv_sec) * 1'000'000'000 +
                          static_cast<std::uint64_t>(resolution.tv_nsec);
  answers.pair_error_ns = base::read_clock_pair().error_ns;
  answers.counter_error_ns = capture::read_counter_pair().error_ns;
  return answers;
}

Result<BpfAnswers> ask_bpf() {
  BpfAnswers answers;
  answers.mechanism = capture::best_mechanism();
  SJ_TRY(pid, try_pid_filter(answers.mechanism));
  answers.pid = pid;
  // Measures with none, half and all of the arguments that a point can have.
  SJ_TRY(costs, capture::calibrate_bpf(answers.mechanism, {.args = SJ_MAX_ARGS}));
  answers.costs = std::move(costs);
  for (const unsigned bytes : {1U, 5U, 10U}) {
    if (bytes > 1 && capture::long_nop(bytes) == nullptr) continue;
    SJ_TRY(nop, try_nop(answers.mechanism, bytes));
    answers.nops.push_back(std::move(nop));
  }
  answers.stepped_hit_ps = try_stepped(answers.mechanism).value_or(0);
  return answers;
}

}  // namespace

HostAnswers ask_host() {
  HostAnswers answers;
  utsname system{};
  uname(&system);
  answers.machine = system.machine;
  answers.clocks = ask_clocks();
  answers.counters = capture::measure_counter_offsets();
  answers.ring_hit = capture::calibrate_ring();
  answers.why_not_hardware_counters = why_no_counter("cycles");
  answers.why_not_software_counters = why_no_counter("page-faults");
  if (auto bpf = ask_bpf())
    answers.bpf = std::move(*bpf);
  else
    answers.why_not_bpf = bpf.error().text();
  return answers;
}

}  // namespace sojourn::doctor
