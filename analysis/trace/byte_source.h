// The bytes of a trace: of a file, of memory, of a page in a browser. Readers ask for whole blocks,
// so the cost of a call does not matter. One thread owns a ByteSource.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace sojourn::trace {

class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  // Its name in messages: a file's path.
  virtual const std::string& name() const = 0;
  virtual std::uint64_t size() const = 0;

  // Fills `into` with the bytes from `offset` on. False: not all of them are there, or can be read.
  virtual bool read_at(std::uint64_t offset, std::span<std::uint8_t> into) = 0;

  // The first offset from `from` on that is not in a hole; size() if there is none. A source that
  // knows no holes returns `from`.
  virtual std::uint64_t next_data(std::uint64_t from) { return from; }

  // Returns true if a growing source will grow no more.
  virtual bool is_over() const { return false; }
};

// Reads bytes in memory, which must outlive it.
class MemorySource : public ByteSource {
 public:
  MemorySource(std::string name, std::span<const std::uint8_t> bytes)
      : name_(std::move(name)), bytes_(bytes) {}

  const std::string& name() const override { return name_; }
  std::uint64_t size() const override { return bytes_.size(); }
  bool read_at(std::uint64_t offset, std::span<std::uint8_t> into) override {
    if (offset > bytes_.size() || into.size() > bytes_.size() - offset) return false;
    std::ranges::copy(bytes_.subspan(static_cast<std::size_t>(offset), into.size()), into.data());
    return true;
  }

 private:
  std::string name_;
  std::span<const std::uint8_t> bytes_;
};

}  // namespace sojourn::trace
