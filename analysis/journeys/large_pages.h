// An allocator for what is looked at all over, a little here and a little there: where it is large
// it gets large pages, if the kernel has some to spare, as finding a small one's address would take
// as long as the look.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>

#include <sys/mman.h>

namespace sojourn::journeys {

inline constexpr std::size_t kLargePage = std::size_t{2} << 20;

template <typename T>
struct LargePages {
  using value_type = T;

  LargePages() = default;
  template <typename U>
  LargePages(const LargePages<U>& /*unused*/) {}

  T* allocate(std::size_t count) {
    const auto bytes = count * sizeof(T);
    void* const memory = ::operator new(bytes, alignment(bytes));
    // Without them all is well too.
    if (bytes >= kLargePage) madvise(memory, bytes, MADV_HUGEPAGE);
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    const auto bytes = count * sizeof(T);
    ::operator delete(memory, bytes, alignment(bytes));
  }

  bool operator==(const LargePages&) const = default;

 private:
  static std::align_val_t alignment(std::size_t bytes) {
    return std::align_val_t(bytes >= kLargePage ? kLargePage : alignof(T));
  }
};

}  // namespace sojourn::journeys
