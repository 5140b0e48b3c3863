// A trace that comes through a socket, from `record --listen`, or on standard input, as a source
// whose size grows. Each call of size() takes in the bytes that have arrived. Memory that was read
// is given back. A broken connection is made again (userspace/files/kept_stream.h). One thread owns
// it.
#pragma once

#include <memory>
#include <string>

#include "analysis/base/result.h"
#include "analysis/trace/byte_source.h"

namespace sojourn::live_view {

// `name` is "tcp://HOST:PORT", "unix:PATH", "tls://HOST:PORT" or "-".
Result<std::unique_ptr<trace::ByteSource>> open_growing_stream(const std::string& name);

}  // namespace sojourn::live_view
