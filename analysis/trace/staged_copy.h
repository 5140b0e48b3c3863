// Writes a trace again as its stage makes it: with the events that are left, the columns, the
// activities and the markers. So whoever cannot run a script finds what it made. One pass, memory
// for a batch of each stream.
#pragma once

#include <string>

#include "analysis/base/result.h"
#include "analysis/trace/put_sink.h"
#include "analysis/trace/reader.h"

namespace sojourn::trace {

// `script`: what the stage is called. Blocks of events that cannot be read are left out: what is
// missing shows in the new trace.
Result<void> write_staged(Reader& reader, const std::string& script, const Put& put,
                          const CopyProgress& progress = {});

}  // namespace sojourn::trace
