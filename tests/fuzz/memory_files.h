// Files of fuzzers: in memory, so that neither a disk nor a system call sets the pace.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/imports/byte_stream.h"
#include "analysis/trace/byte_sink.h"

namespace sojourn::fuzz {

// A recording; the bytes outlive it.
class MemoryStream : public imports::ByteStream {
 public:
  explicit MemoryStream(std::string_view bytes) : bytes_(bytes) {}

  std::size_t read(std::span<char> into) override {
    const std::string_view next = bytes_.substr(done_, into.size());
    std::ranges::copy(next, into.begin());
    done_ += next.size();
    return next.size();
  }
  const std::string& failure() const override { return failure_; }
  std::uint64_t done_bytes() const override { return done_; }
  std::uint64_t size_bytes() const override { return bytes_.size(); }
  std::optional<std::uint64_t> changed_ns() const override { return 1'700'000'000'000'000'000; }

 private:
  std::string_view bytes_;
  std::size_t done_ = 0;
  std::string failure_;  // never: memory can always be read
};

// A trace that is being written, to bytes that outlive it.
class MemorySink : public trace::ByteSink {
 public:
  explicit MemorySink(std::vector<std::uint8_t>& bytes) : bytes_(bytes) {}

  Result<void> append(std::span<const std::uint8_t> bytes) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return {};
  }
  std::uint64_t size() const override { return bytes_.size(); }
  Result<void> finish() override { return {}; }
  void abandon() override { bytes_.clear(); }
  const std::string& put_aside() const override { return put_aside_; }

 private:
  std::vector<std::uint8_t>& bytes_;
  std::string put_aside_;
};

}  // namespace sojourn::fuzz
