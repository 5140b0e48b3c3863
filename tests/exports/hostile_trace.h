// A trace whose target, threads and queues call themselves what no format expects: of each name a
// packet by a thread of it, a sample of a queue of it, and a turn of the thread on a CPU.
#pragma once

#include <string>

#include "analysis/base/result.h"

namespace sojourn::exports {

Result<void> write_hostile_trace(const std::string& path);

}  // namespace sojourn::exports
