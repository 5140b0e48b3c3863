// The bytes of another tracer's recording, one after the other, wherever they are: a file, a pipe,
// compressed or not. One thread owns a ByteStream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "analysis/base/result.h"

namespace sojourn::imports {

class ByteStream {
 public:
  ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;
  virtual ~ByteStream() = default;

  // Fills `into` as far as possible, and returns how many bytes. Fewer than its size: that was the
  // end, or reading failed.
  virtual std::size_t read(std::span<char> into) = 0;
  // Why reading failed; empty: the end was reached.
  virtual const std::string& failure() const = 0;

  // Bytes as stored, which may be compressed. The size is 0 if it is not known, as of a pipe.
  virtual std::uint64_t done_bytes() const = 0;
  virtual std::uint64_t size_bytes() const = 0;

  // The time of its last change, since 1970. Nothing if it is no file that can be opened again.
  virtual std::optional<std::uint64_t> changed_ns() const = 0;
};

// Opens the recording of this name.
using Open = std::function<Result<std::unique_ptr<ByteStream>>(const std::string& path)>;

}  // namespace sojourn::imports
