// Writes a trace as its stage changes it: the kept events, the columns, the activities and the
// markers. Users who cannot run the script can read its results in the new trace. One pass, with
// memory for a batch of each stream.
#pragma once

#include <string>

#include "analysis/base/result.h"
#include "analysis/trace/put_sink.h"
#include "analysis/trace/reader.h"

namespace sojourn::trace {

// `script`: the stage's name. Unreadable blocks of events are left out, and the new trace shows
// that they are missing.
Result<void> write_staged(Reader& reader, const std::string& script, const Put& put,
                          const CopyProgress& progress = {});

}  // namespace sojourn::trace
