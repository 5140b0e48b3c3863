// Places in this program's own code for trials of probes: nops like those of points, longer nops
// that some kernels optimise, and an instruction that no kernel emulates. Only trials run them.
// Immutable.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/base/result.h"
#include "bpf/events.h"
#include "userspace/tracee/program_points.h"

namespace sojourn::capture {

// One instruction, once in a loop and once in a leaf function that keeps values below the stack
// pointer, in the red zone. trial_sites.S makes these.
struct TrialSite {
  const char* site;
  void (*run)(std::uint64_t times);
  const char* leaf_site;
  // Runs it `times` times; returns how often the red zone was changed.
  std::uint64_t (*leaf)(std::uint64_t times);
};

// Nops as points have them; several, so that different probes can be compared.
std::span<const TrialSite> plain_sites();

// A nop of this length, longer than the plain one; null if the architecture has none.
const TrialSite* long_nop(unsigned bytes);

// An instruction that the kernel executes out of line, in a single step.
const TrialSite& stepped_site();

// The beginning of a function that is no leaf, so that a uretprobe is hit when it returns.
const TrialSite& returning_site();

// Arguments that a trial may have: in a register, and in memory.
sj_arg register_argument();
sj_arg memory_argument();

struct Trial {
  const char* site = nullptr;
  std::vector<sj_arg> arguments;
  bool is_return = false;
};

// The form that BpfPrograms and Attachment take: one point and one site each, in this order.
Result<tracee::Points> trial_points(std::span<const Trial> trials);

}  // namespace sojourn::capture
