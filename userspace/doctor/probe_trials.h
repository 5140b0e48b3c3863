// Tries probes on nops of our own, in child processes of our own: whether the kernel counts the
// right hits, and whether a form of nop does harm. Only a child of ours can be harmed.
#pragma once

#include "analysis/base/result.h"
#include "userspace/capture/api.h"
#include "userspace/doctor/host_answers.h"

namespace sojourn::doctor {

Result<PidAnswer> try_pid_filter(capture::Mechanism mechanism);

// `bytes` is 1 (the length of the architecture's plain nop), or one that capture::long_nop() knows.
Result<NopAnswer> try_nop(capture::Mechanism mechanism, unsigned bytes);

// Returns whether probes may be placed on such a nop in another program: it does no harm, and costs
// no single step, because the kernel replaces it or `is_emulated`.
bool may_probe_nop(capture::Mechanism mechanism, unsigned bytes, bool is_emulated);

// Measures the cost of a hit at an instruction that is executed out of line.
Result<std::uint64_t> try_stepped(capture::Mechanism mechanism);

}  // namespace sojourn::doctor
