// Measures the network to another machine, where `sojourn host --serve` runs.
#pragma once

#include <string>

#include "userspace/host/bench.h"

namespace sojourn::host {

// Measures against `sojourn host --serve` on another host. A figure that cannot be measured is left
// out, with the reason.
void measure_peer(Bench& bench, const std::string& peer);

}  // namespace sojourn::host
