// Measures files in another directory, on another file system or a network mount, beside the
// bench's own.
#pragma once

#include <string>

#include "userspace/host/bench.h"

namespace sojourn::host {

void measure_other_directory(Bench& bench, const std::string& directory);

}  // namespace sojourn::host
