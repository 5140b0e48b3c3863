// Memory that will be needed soon, on its way into the caches meanwhile.
#pragma once

#include <cstddef>

namespace sojourn::journeys {

inline constexpr std::size_t kCacheLine = 64;

// A compiler takes a function that does nothing but this for one without an effect, and leaves out
// what calls it; the empty statement is an effect.
inline void prefetch_line(const void* line) {
  __builtin_prefetch(line);
  asm volatile("");
}

inline void prefetch_for_write(const void* line) {
  __builtin_prefetch(line, 1);
  asm volatile("");
}

// All lines of it.
template <typename T>
void prefetch_all(const T& object) {
  const auto* const bytes = reinterpret_cast<const char*>(&object);
  for (std::size_t at = 0; at < sizeof(T); at += kCacheLine) prefetch_line(bytes + at);
}

}  // namespace sojourn::journeys
