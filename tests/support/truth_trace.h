// The ground truth of the base station under test as a trace: the same journeys as those of a
// capture, with times that tracing has not changed.
#pragma once

#include <string>

#include "analysis/base/result.h"
#include "tests/basestation/truth.h"

namespace sojourn::test {

// One stream: the hits of all threads, by the stamp before each.
Result<void> write_as_trace(const truth::Truth& truth, const std::string& trace);

}  // namespace sojourn::test
