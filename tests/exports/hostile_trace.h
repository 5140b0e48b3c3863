// A trace whose target, threads and queues have names that no format expects: for each name a
// packet of a thread, a sample of a queue, and a turn of the thread on a CPU.
#pragma once

#include <string>

#include "analysis/base/result.h"

namespace sojourn::exports {

Result<void> write_hostile_trace(const std::string& path);

}  // namespace sojourn::exports
