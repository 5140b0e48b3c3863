// A LatSeq recording that a page was given in the place of a trace, as a trace in memory. Functions
// without state.
#pragma once

#include <memory>

#include "analysis/base/result.h"
#include "analysis/trace/byte_source.h"

namespace sojourn::page {

// Returns whether it begins as text, which no trace does, not even one with a damaged beginning.
bool is_text(trace::ByteSource& source);

// Makes the trace that `sojourn import` makes. Fails if there is no event.
Result<std::unique_ptr<trace::ByteSource>> trace_of_latseq(
    std::unique_ptr<trace::ByteSource> recording);

}  // namespace sojourn::page
