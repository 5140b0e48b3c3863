// Where a trace that is written goes. One thread owns a ByteSink.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "analysis/base/result.h"

namespace sojourn::trace {

class ByteSink {
 public:
  ByteSink() = default;
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;
  virtual ~ByteSink() = default;

  // All of the bytes or, where it fails, none of them.
  virtual Result<void> append(std::span<const std::uint8_t> bytes) = 0;
  virtual std::uint64_t size() const = 0;

  // That was all. Once.
  virtual Result<void> finish() = 0;
  // There is nothing in it that anybody would want.
  virtual void abandon() = 0;

  // What was there before under its name, and is called so now; empty: there was nothing.
  virtual const std::string& put_aside() const = 0;
};

}  // namespace sojourn::trace
