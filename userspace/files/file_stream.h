// Recordings of other tracers as files and pipes, see analysis/imports/byte_stream.h.
#pragma once

#include <memory>
#include <string>

#include "analysis/base/result.h"
#include "analysis/imports/byte_stream.h"

namespace sojourn::files {

// Opens a file's bytes as they are stored. "-" is standard input, which can be read once.
Result<std::unique_ptr<imports::ByteStream>> open_stream(const std::string& path);

// Opens a file, or standard input, and unpacks it if it is compressed by gzip.
Result<std::unique_ptr<imports::ByteStream>> open_gzip_stream(const std::string& path);

}  // namespace sojourn::files
