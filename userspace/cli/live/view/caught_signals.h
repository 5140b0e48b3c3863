// Signals that become readable on a descriptor, so that no code runs in a handler. To be called
// after a capture's process was started, which catches its own.
#pragma once

#include <initializer_list>

#include "analysis/base/result.h"
#include "userspace/base/fd.h"

namespace sojourn::cli {

// SIGPIPE is ignored from then on: writing to a closed pipe or socket gives an error to report.
Result<base::Fd> catch_signals(std::initializer_list<int> wanted);

}  // namespace sojourn::cli
