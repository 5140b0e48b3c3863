// Reads the cycle counter of the calling thread's CPU, with which SJ_POINT stamps hits. Tests link
// another definition to imitate a machine whose CPUs' counters disagree
// (tests/support/uneven_counters.cpp).
#pragma once

#include <cstdint>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

namespace sojourn::capture {

std::uint64_t read_cycle_counter();

// Reads the counter after all earlier loads are done. Otherwise the processor may read it before
// them, as it does at a point, and a message between two CPUs would seem to arrive too early.
inline std::uint64_t read_cycle_counter_after_loads() {
#ifdef __x86_64__
  _mm_lfence();
#else
  __asm__ __volatile__("isb" : : : "memory");
#endif
  return read_cycle_counter();
}

}  // namespace sojourn::capture
