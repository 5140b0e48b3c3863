// The cost of a BPF program's clock, by test runs of a program that is attached to nothing.
// Stateless.
#pragma once

#include "analysis/base/result.h"

namespace sojourn::host {

Result<double> bpf_clock_ns();

}  // namespace sojourn::host
