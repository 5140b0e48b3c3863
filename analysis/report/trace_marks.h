// What a trace file says of what it may lack, as a rebuild of its journeys needs it.
#pragma once

#include "analysis/journeys/capture_marks.h"
#include "analysis/trace/reader.h"

namespace sojourn::report {

journeys::CaptureMarks capture_marks_of(const trace::Reader& reader);

}  // namespace sojourn::report
