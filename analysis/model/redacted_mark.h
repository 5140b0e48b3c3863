// How a trace says that its ids and names were replaced: by the last word of what made it, as
// merged traces do. No state.
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
