// A number for a trace, by which exports of two traces are told apart in a program that has both.
// The same trace has the same number, wherever its file is. Pure.
#pragma once

#include <cstdint>

#include "analysis/trace/reader.h"

namespace sojourn::exports {

std::uint64_t trace_fingerprint(const trace::Reader& reader);

}  // namespace sojourn::exports
