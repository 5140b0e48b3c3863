/* Keeps values below its stack pointer, in the red zone, while a point in the middle is hit: the
 * x86-64 ABI gives a leaf function 128 bytes there, and a tracer that pushes into them destroys the
 * values. Last line: "redzone: calls=N armed=N corrupted=N". */
#include <sojourn/point.h>
#include <stdint.h>

#include "subject.h"

enum { kKept = 14, kBatch = 1000 }; /* 112 of the red zone's 128 bytes */

__attribute__((noinline)) static uint64_t leaf(uint64_t seed) {
  volatile uint64_t kept[kKept];
  for (unsigned i = 0; i < kKept; ++i) kept[i] = seed + i;
  SJ_POINT("D redzone.before--redzone.after", "hits::seed", (armed_hits += 1), seed);
  uint64_t wrong = 0;
  for (unsigned i = 0; i < kKept; ++i) wrong |= kept[i] ^ (seed + i);
  return wrong;
}

int main(int argc, char** argv) {
  unsigned long calls = 0;
  unsigned long corrupted = 0;
  subject_start(argc, argv);
  while (subject_goes_on()) {
    for (int i = 0; i < kBatch; ++i) {
      if (leaf(UINT64_C(0x9e3779b97f4a7c15) * ++calls) != 0) ++corrupted;
    }
  }
  printf("redzone: calls=%lu armed=%lu corrupted=%lu\n", calls, armed_hits, corrupted);
  return corrupted == 0 ? 0 : 1;
}
