// What a trace file says of its begin and of what it may lack, as a rebuild of its journeys needs
// it. No state.
#pragma once

#include <cstdint>

#include "analysis/journeys/capture_marks.h"
#include "analysis/trace/reader.h"

namespace sojourn::pipeline {

journeys::CaptureMarks capture_marks_of(const trace::Reader& reader);

// What times count from: the capture's first mark, or the first event where there is none.
std::uint64_t origin_ns(const trace::Reader& reader);

}  // namespace sojourn::pipeline
