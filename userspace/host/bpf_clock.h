// What a BPF program's clock costs, by test runs: nothing is attached to anything. Stateless.
#pragma once

#include "analysis/base/result.h"

namespace sojourn::host {

Result<double> bpf_clock_ns();

}  // namespace sojourn::host
