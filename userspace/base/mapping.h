// A mapping of a descriptor's contents. Unmaps itself. Moves only.
#pragma once

#include <cerrno>
#include <cstddef>
#include <span>
#include <utility>

#include <sys/mman.h>

#include "userspace/base/fd.h"

namespace sojourn::base {

class Mapping {
 public:
  Mapping() = default;
  // Readable, writable and shared. False as bool if it failed; errno says why.
  Mapping(int fd, std::size_t bytes)
      : at_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)), bytes_(bytes) {}

  // Several descriptors' contents one after the other, the same number of bytes of each.
  static Mapping joined(std::span<const Fd> fds, std::size_t bytes_of_each) {
    Mapping whole;
    whole.bytes_ = fds.size() * bytes_of_each;
    whole.at_ =
        mmap(nullptr, whole.bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (std::size_t at = 0; whole && at < fds.size(); ++at)
      if (mmap(whole.data() + at * bytes_of_each, bytes_of_each, PROT_READ | PROT_WRITE,
               MAP_SHARED | MAP_FIXED, fds[at].get(), 0) == MAP_FAILED) {
        const int why = errno;
        whole = Mapping();
        errno = why;
      }
    return whole;
  }
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
