// Makes a trace in memory of a LatSeq recording, if a page is given one in the place of a trace.
// Functions without state.
#pragma once

#include <memory>

#include "analysis/base/result.h"
#include "analysis/trace/byte_source.h"

namespace sojourn::page {

// Returns whether the source begins as text. No trace does, not even one with a damaged beginning.
bool is_text(trace::ByteSource& source);

// Returns the trace that `sojourn import` makes. Fails if the recording has no event.
Result<std::unique_ptr<trace::ByteSource>> trace_of_latseq(
    std::unique_ptr<trace::ByteSource> recording);

}  // namespace sojourn::page
