// A number of a trace, which distinguishes exports of two traces in a program that has both. The
// same trace has the same number in any file. Pure functions.
#pragma once

#include <cstdint>

#include "analysis/trace/reader.h"

namespace sojourn::exports {

std::uint64_t trace_fingerprint(const trace::Reader& reader);

}  // namespace sojourn::exports
