// The counter that SJ_POINT stamps with, of the CPU that asks. Tests link a program with another
// definition, as on a machine whose CPUs' counters disagree (tests/support/uneven_counters.cpp).
#pragma once

#include <cstdint>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

namespace sojourn::capture {

std::uint64_t read_cycle_counter();

// Reads it once all earlier loads are done. A processor may read it before them, as it does for a
// point; then the way of a message between two CPUs would look shorter than it was.
inline std::uint64_t read_cycle_counter_after_loads() {
#ifdef __x86_64__
  _mm_lfence();
#else
  __asm__ __volatile__("isb" : : : "memory");
#endif
  return read_cycle_counter();
}

}  // namespace sojourn::capture
