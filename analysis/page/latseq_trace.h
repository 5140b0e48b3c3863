// A LatSeq recording that a page was given in the place of a trace, as a trace in memory. Functions
// without state.
#pragma once

#include <memory>

#include "analysis/base/result.h"
#include "analysis/trace/byte_source.h"

namespace sojourn::page {

// Whether it begins as no trace does. A trace whose beginning is damaged is none of these.
bool is_text(trace::ByteSource& source);

// As `sojourn import` makes it. Fails where there is not one event.
Result<std::unique_ptr<trace::ByteSource>> trace_of_latseq(
    std::unique_ptr<trace::ByteSource> recording);

}  // namespace sojourn::page
