// A sink that passes a trace's bytes on as they are written. One thread owns a PutSink.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "analysis/base/result.h"
#include "analysis/trace/byte_sink.h"

namespace sojourn::trace {

using Put = std::function<Result<void>(std::span<const std::uint8_t>)>;

// Called while a trace is written again: how many events were read, and of how many.
using CopyProgress = std::function<void(std::uint64_t done, std::uint64_t of)>;

class PutSink : public ByteSink {
 public:
  explicit PutSink(Put put) : put_(std::move(put)) {}

  Result<void> append(std::span<const std::uint8_t> bytes) override {
    SJ_CHECK(put_(bytes));
    size_ += bytes.size();
    return {};
  }
  std::uint64_t size() const override { return size_; }
  Result<void> finish() override { return {}; }
  void abandon() override {}
  const std::string& put_aside() const override { return put_aside_; }

 private:
  Put put_;
  std::uint64_t size_ = 0;
  std::string put_aside_;
};

}  // namespace sojourn::trace
