// Fetches memory into the caches that will be needed soon.
#pragma once

#include <cstddef>

namespace sojourn::journeys {

inline constexpr std::size_t kCacheLine = 64;

#ifdef __wasm__
// WebAssembly has no such instruction. What would only be read to find out what to fetch need not
// be read either, as it is not in the caches itself.
inline void prefetch_line(const void* /*line*/) {}
inline void prefetch_for_write(const void* /*line*/) {}
#else
// The empty statement counts as an effect. Without it a compiler takes a function that only
// prefetches for one without an effect, and removes its calls.
inline void prefetch_line(const void* line) {
  __builtin_prefetch(line);
  asm volatile("");
}

inline void prefetch_for_write(const void* line) {
  __builtin_prefetch(line, 1);
  asm volatile("");
}

#endif

// Fetches all lines of the object.
template <typename T>
void prefetch_all(const T& object) {
  const auto* const bytes = reinterpret_cast<const char*>(&object);
  for (std::size_t at = 0; at < sizeof(T); at += kCacheLine) prefetch_line(bytes + at);
}

}  // namespace sojourn::journeys
