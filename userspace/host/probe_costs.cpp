// The cost of a tracer's probes on this machine: a uprobe at each kind of site, a point without a
// tracer, a point by rings, a BPF record. The probes are on code of this program's own child
// processes.
#include <string>
#include <utility>

#include <fmt/format.h>

#include "bpf/events.h"
#include "userspace/capture/api.h"
#include "userspace/doctor/probe_trials.h"
#include "userspace/host/subjects.h"

namespace sojourn::host {

namespace {

constexpr int kRepeats = static_cast<int>(kFewestSamples);

double ns(std::uint64_t ps) {
  return static_cast<double>(ps) / 1000;
}

void measure_nop(Bench& bench, capture::Mechanism mechanism, unsigned bytes) {
  const Row row = {fmt::format("probes.nop{}", bytes),
                   fmt::format("uprobe on a {}-byte nop", bytes),
                   "hits of a child's own nop, all arguments left out"};
  if (bytes > 1 && capture::long_nop(bytes) == nullptr)
    return bench.leave_out(row, "this architecture has no such nop");
  std::vector<double> samples;
  std::string note;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const auto answer = doctor::try_nop(mechanism, bytes);
    if (!answer) return bench.leave_out(row, answer.error().text());
    if (!answer->refused.empty()) return bench.leave_out(row, answer->refused);
    samples.push_back(ns(answer->hit_ps));
    note = answer->is_optimised ? "the kernel puts a call there, no trap" : "";
    if (!answer->is_safe()) note += "; it harms the program, so it is not used";
  }
  bench.add(row, std::move(samples)).note = note;
}

void measure_records(Bench& bench, capture::Mechanism mechanism) {
  const Row five = {"probes.bpf_record", "BPF record of five integers",
                    "a hit of the capture's own program on a 1-byte nop"};
  const Row stepped = {"probes.stepped", "uprobe on an instruction that is single-stepped",
                       "as a BPF record without integers"};
  const Row returning = {"probes.return", "uretprobe, both ends of a call",
                         "as a BPF record without integers"};
  std::vector<double> of_five;
  std::vector<double> of_step;
  std::vector<double> of_return;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const auto costs =
        capture::calibrate_bpf(mechanism, {.args = SJ_MAX_ARGS, .steps = true, .returns = true});
    if (!costs) return bench.leave_out_all({five, stepped, returning}, costs.error().text());
    of_five.push_back(ns(costs->hit.ps(5)));
    of_step.push_back(ns(costs->hit.ps(0) + costs->stepped_ps));
    of_return.push_back(ns(costs->hit.ps(0) + costs->return_ps));
  }
  bench.add(five, std::move(of_five));
  bench.add(stepped, std::move(of_step));
  bench.add(returning, std::move(of_return));
}

// The flags that a point tests, as in SJ_POINT.
volatile unsigned char by_uprobe = 0;
volatile unsigned char by_ring = 0;

void points_off(std::uint64_t times) {
  for (std::uint64_t turn = 0; turn < times; ++turn) {
    if (__builtin_expect((by_uprobe | by_ring) != 0, 0)) asm volatile("nop" : : : "memory");
    keep(turn);
  }
}

}  // namespace

void measure_probes(Bench& bench) {
  bench.measure({"probes.off", "an untraced point",
                 "the two loads and the branch of a point, the loop subtracted"},
                points_off, {.subtract_ns = loop_cost_ns(bench)});
  bench.measure_samples(
      {"probes.ring", "a point by rings, five integers",
       "from the cost of reading the cycle counter, times what was measured once"},
      [] { return ns(capture::calibrate_ring().ps(5)); });
  const capture::Mechanism mechanism = capture::best_mechanism();
  for (const unsigned bytes : {1U, 5U, 10U}) measure_nop(bench, mechanism, bytes);
  measure_records(bench, mechanism);
}

}  // namespace sojourn::host
