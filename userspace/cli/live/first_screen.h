// `sojourn` without arguments: which running processes can be traced, and what to type.
#pragma once

#include <string>

#include "analysis/base/result.h"
#include "userspace/doctor/traceable.h"

namespace sojourn::cli {

// Looks at all processes, which takes milliseconds, and a second at most. To be called while this
// process has one thread.
Result<doctor::MachineOverview> look_around(const doctor::HostFacts& facts);

Result<std::string> first_screen();

}  // namespace sojourn::cli
