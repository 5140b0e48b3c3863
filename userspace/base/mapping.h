// A mapping of a descriptor's contents. Unmaps itself. Moves only.
#pragma once

#include <cstddef>
#include <utility>

#include <sys/mman.h>

namespace sojourn::base {

class Mapping {
 public:
  Mapping() = default;
  // Readable, writable and shared. False as bool if it failed; errno says why.
  Mapping(int fd, std::size_t bytes)
      : at_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)), bytes_(bytes) {}
  Mapping(Mapping&& other) noexcept
      : at_(std::exchange(other.at_, MAP_FAILED)), bytes_(std::exchange(other.bytes_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(at_, other.at_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping() {
    if (*this) munmap(at_, bytes_);
  }

  explicit operator bool() const { return at_ != MAP_FAILED; }
  std::byte* data() const { return static_cast<std::byte*>(at_); }
  std::size_t size() const { return bytes_; }

 private:
  void* at_ = MAP_FAILED;
  std::size_t bytes_ = 0;
};

}  // namespace sojourn::base
