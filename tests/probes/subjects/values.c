/* Hits two points with known values every millisecond, for tracers to read back.
 * Last line: "values: armed=N prepared=N", the latter 1 where the thread has a ring. */
#include <sojourn/point.h>
#include <sojourn/rings.h>
#include <stdint.h>

#include "subject.h"

__attribute__((noinline)) static void hit(int8_t i8, uint16_t u16, int32_t i32, uint64_t u64,
                                          int64_t i64) {
  SJ_POINT("D values.few--values.out", "i8.u16:i32:u64.i64.constant", i8, u16, i32, u64, i64, -7);
  SJ_POINT("U values.many--values.out", "a.b.c.d:e.f.g.h:i.j.k.l", i8, u16, i32, u64, i64, 6, 7,
           (armed_hits += 1), i8, u16, i32, u64);
}

int main(int argc, char** argv) {
  const int prepared = sj_thread_prepare();
  subject_start(argc, argv);
  while (subject_goes_on()) {
    hit(-100, 0x4601, -2000000000, UINT64_C(0xfedcba9876543210), INT64_C(-5000000000));
    usleep(1000);
  }
  printf("values: armed=%lu prepared=%d\n", armed_hits, prepared);
  return 0;
}
