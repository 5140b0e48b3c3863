// The capture's begin and the losses of a trace, in the form that a rebuild needs. No state.
#pragma once

#include <cstdint>

#include "analysis/journeys/capture_marks.h"
#include "analysis/trace/reader.h"

namespace sojourn::pipeline {

journeys::CaptureMarks capture_marks_of(const trace::Reader& reader);

// The origin of relative times: the capture's open mark, or the first event if there is no mark.
std::uint64_t origin_ns(const trace::Reader& reader);

}  // namespace sojourn::pipeline
