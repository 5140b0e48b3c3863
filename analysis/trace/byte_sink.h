// The destination of a trace that is written. One thread owns a ByteSink.
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

  // Appends all of the bytes or, if it fails, none of them.
  virtual Result<void> append(std::span<const std::uint8_t> bytes) = 0;
  virtual std::uint64_t size() const = 0;

  // Completes the trace. Called once.
  virtual Result<void> finish() = 0;
  // Discards the trace.
  virtual void abandon() = 0;

  // The new name of an older file that had the trace's name; empty if there was none.
  virtual const std::string& put_aside() const = 0;
};

}  // namespace sojourn::trace
