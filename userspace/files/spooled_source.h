// A trace that comes as a stream: from `record --listen`, or on standard input. It is read to its
// end, or until an interrupt (Ctrl-C), into a temporary file without a name, which is as large as
// the stream and is removed with the source. A broken connection is made again (kept_stream.h) and
// reported on stderr.
#pragma once

#include <memory>
#include <string>

#include "analysis/base/result.h"
#include "analysis/trace/byte_source.h"

namespace sojourn::files {

// The name is one of is_stream().
Result<std::unique_ptr<trace::ByteSource>> open_spooled(const std::string& name);

}  // namespace sojourn::files
