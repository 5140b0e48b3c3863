// A mapping of a descriptor's contents. Unmaps itself. Moves only.
#pragma once

#include <algorithm>
#include <cerrno>
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

  // The same by many short calls. The kernel enters all pages of a BPF map within the call: 32 MiB
  // take 1 to 2 ms, in which a kernel that does not preempt itself keeps real-time threads from
  // that CPU.
  static Mapping in_pieces(int fd, std::size_t bytes) {
    constexpr std::size_t kPiece = std::size_t{1} << 19;
    Mapping whole;
    whole.at_ = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    whole.bytes_ = bytes;
    for (std::size_t from = 0; whole && from < bytes; from += kPiece)
      if (mmap(whole.data() + from, std::min(kPiece, bytes - from), PROT_READ | PROT_WRITE,
               MAP_SHARED | MAP_FIXED, fd, static_cast<off_t>(from)) == MAP_FAILED) {
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
