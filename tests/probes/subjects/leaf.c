/* Functions whose assembly the tests look at: what a point costs while nobody is attached. */
#include <sojourn/point.h>
#include <stdint.h>

uint64_t leaf_with_point(uint64_t a, uint64_t b, uint32_t rnti, int drb);
uint64_t leaf_with_point(uint64_t a, uint64_t b, uint32_t rnti, int drb) {
  SJ_POINT("D leaf.in--leaf.out", "len:rnti:drb.psn.rsn", a, rnti, drb, b, a + b);
  return a * b;
}

uint64_t leaf_with_many(uint64_t a, uint64_t b);
uint64_t leaf_with_many(uint64_t a, uint64_t b) {
  SJ_POINT("D leaf.in--leaf.many", "a.b.c.d.e.f.g.h.i.j::", a, b, a, b, a + 1, b + 1, a + 2, b + 2,
           a + 3, b + 3);
  return a * b;
}

/* So little work that a jump in each turn shows. */
uint64_t loop_with_point(uint64_t sum, uint32_t rnti);
uint64_t loop_with_point(uint64_t sum, uint32_t rnti) {
  for (uint32_t i = 0; i < 10000; ++i) {
    sum += (i * UINT64_C(2654435761)) >> 7 ^ rnti;
    __asm__ volatile("" : "+r"(sum));
    SJ_POINT("D loop.in--loop.out", "len:rnti:psn", i << 4, rnti, i);
  }
  return sum;
}
