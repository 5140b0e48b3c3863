// Words that the target and the collector both use. Atomic through built-ins, because C structs of
// ring_abi.h have no std::atomic. A value that is checked is loaded once and never again.
#pragma once

namespace sojourn::capture {

template <typename T>
T load_acquire(const T& word) {
  return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
}

template <typename T>
T load_relaxed(const T& word) {
  return __atomic_load_n(&word, __ATOMIC_RELAXED);
}

template <typename T>
void store_release(T& word, T value) {
  __atomic_store_n(&word, value, __ATOMIC_RELEASE);
}

}  // namespace sojourn::capture
