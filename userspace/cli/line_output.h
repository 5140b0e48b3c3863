// Standard output for very many lines. A reader that closes the pipe (`| head`) is no error:
// is_taken() turns false, and the rest need not be made. One thread owns a LineOutput.
#pragma once

#include <fmt/format.h>

#include "analysis/base/result.h"

namespace sojourn::cli {

class LineOutput {
 public:
  bool is_taken() const { return is_taken_; }

  fmt::memory_buffer& buffer() { return buffer_; }

  Result<void> flush_if_full();
  Result<void> flush();

 private:
  fmt::memory_buffer buffer_;
  bool is_taken_ = true;
};

}  // namespace sojourn::cli
