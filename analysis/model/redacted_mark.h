// The mark of a trace whose ids and names were replaced: the last word of its tracer's name. Merged
// traces keep it. No state.
#pragma once

#include <string>
#include <string_view>

#include "analysis/model/capture_info.h"

namespace sojourn::model {

constexpr std::string_view kRedactedMark = " redacted";

inline bool is_redacted(const Capture& capture) {
  return capture.tracer.ends_with(kRedactedMark);
}

inline void mark_redacted(Capture& capture) {
  if (!is_redacted(capture)) capture.tracer += kRedactedMark;
}

}  // namespace sojourn::model
