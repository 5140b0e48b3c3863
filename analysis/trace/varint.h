// Integers of variable length: seven bits a byte, the lowest first; the top bit says that more
// bytes follow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sojourn::trace {

class VarintWriter {
 public:
  explicit VarintWriter(std::vector<std::uint8_t>& bytes) : bytes_(bytes) {}

  void put(std::uint64_t value) {
    while (value >= 0x80) {
      bytes_.push_back(static_cast<std::uint8_t>(value | 0x80));
      value >>= 7;
    }
    bytes_.push_back(static_cast<std::uint8_t>(value));
  }

 private:
  std::vector<std::uint8_t>& bytes_;
};

// Reading past the end, or an integer that is too long, gives zeros and sets failed(), which is
// checked once at the end.
class VarintReader {
 public:
  explicit VarintReader(std::span<const std::uint8_t> bytes)
      : next_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  std::uint64_t get() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (next_ == end_) break;
      const std::uint8_t byte = *next_++;
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    failed_ = true;
    return 0;
  }

  bool failed() const { return failed_; }
  std::span<const std::uint8_t> rest() const { return {next_, end_}; }

 private:
  const std::uint8_t* next_;
  const std::uint8_t* end_;
  bool failed_ = false;
};

}  // namespace sojourn::trace
