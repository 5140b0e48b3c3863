#include "userspace/capture/records/cycle_counter.h"

#ifdef __x86_64__
#include <x86intrin.h>
#endif

namespace sojourn::capture {

// This function is alone in its file, so that a linker leaves the file out when a program brings
// its own definition.
std::uint64_t read_cycle_counter() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  std::uint64_t ticks;
  __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#endif
}

}  // namespace sojourn::capture
