// A trace as a file. Read: a regular file, at any offset; or a stream, by a name of
// stream_address.h, from its beginning to its end. Written: it is named `path.partial` until
// it is finished, then renamed: a trace that ended in order is recognisable by its name, and an
// older trace of that name survives until then. Each block is on disk before the next begins; a
// writer that dies leaves the .partial file, readable. The next writer renames it to
// `path.partial~`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "analysis/base/result.h"
#include "analysis/trace/reader.h"
#include "analysis/trace/writer.h"

namespace sojourn::files {

Result<trace::Reader> open_trace(const std::string& path);
Result<trace::Writer> create_trace(const std::string& path);

// The source and the sink alone, without a reader or a writer.
Result<std::unique_ptr<trace::ByteSource>> open_source(const std::string& path);
Result<std::unique_ptr<trace::ByteSink>> create_sink(const std::string& path);

}  // namespace sojourn::files
