// A trace as a file.
//
// Reading: a regular file, at any offset; or a stream with a name of stream_address.h, from its
// beginning to its end.
//
// Writing: the file is named `path.partial` until it is finished, and is renamed then. So the name
// shows whether a trace ended in order, and an older trace of that name survives until then. Each
// block is on disk before the next one begins. A writer that dies leaves the .partial file, which
// is readable. The next writer renames it to `path.partial~`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "analysis/base/result.h"
#include "analysis/trace/reader.h"
#include "analysis/trace/writer.h"

namespace sojourn::files {

Result<trace::Reader> open_trace(const std::string& path);
Result<trace::Writer> create_trace(const std::string& path);

// Returns whether a writer of traces has this open file.
bool has_writer(int fd);

// The unfinished file of a trace, if there is one.
struct PartialTrace {
  std::string path;
  bool has_writer = false;  // else a killed one left it
};
std::optional<PartialTrace> partial_of(const std::string& path);

// Open only the source or the sink, without a reader or a writer.
Result<std::unique_ptr<trace::ByteSource>> open_source(const std::string& path);
Result<std::unique_ptr<trace::ByteSink>> create_sink(const std::string& path);

}  // namespace sojourn::files
