/* Every form of argument that SJ_POINT takes, as C and as C++. Prints "forms ok" and exits 0.
 * An argument is evaluated once where SJ_RINGS=armed, else never. */
#include <sojourn/point.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
#include <atomic>
#define ATOMIC(type) std::atomic<type>
#else
#include <stdbool.h>
#define ATOMIC(type) _Atomic(type)
#endif
#include <stdint.h>

#include "forms.h"

enum Colour { kRed = 0, kBlue = 0x7fffffff };

struct Bits {
  unsigned small : 5;
  int negative : 7;
  uint8_t whole;
  uint64_t wide : 40;
  int64_t wide_negative : 40;
} __attribute__((packed));

static ATOMIC(int32_t) atomic_value;
static char array[8];
static int evaluations;

__attribute__((noinline)) static void scalars(const int64_t* pointer, enum Colour colour) {
  const volatile uint16_t rnti = 0x4601;
  SJ_POINT("D forms.none--forms.one", "::");
  SJ_POINT("D forms.one--forms.two", "i8.u8.i16.u16:i32.u32:i64.u64", (int8_t)-1, (uint8_t)1,
           (int16_t)*pointer, rnti, (int32_t)*pointer, (uint32_t)*pointer, *pointer,
           (uint64_t)*pointer);
  SJ_POINT("U forms.two--forms.three", ":colour.flag:pointer.array.atomic", colour,
           (bool)(*pointer > 0), pointer, array, atomic_value);
}

__attribute__((noinline)) static void bit_fields(const struct Bits* bits) {
  SJ_POINT("I forms.bits--forms.value", "small.negative.whole:wide.wide_negative:", bits->small,
           bits->negative, bits->whole, bits->wide, bits->wide_negative);
}

__attribute__((noinline)) static int sixteen(int a, long b, short c, unsigned char d) {
  SJ_POINT("S forms.many--forms.more", "a.b.c.d:e.f.g.h.i.j.k.l:m.n.o.p", a, b, c, d, a + 1, b + 1,
           a * 2, b * 2, a, b, c, d, 3, b - 1, a - b, b / 3);
  return a + (int)b;
}

/* The site sits in a loop that a compiler likes to unroll. */
__attribute__((noinline)) static long unrolled(const int* values, int count) {
  long sum = 0;
  for (int i = 0; i < count; ++i) {
    if (count > 2) SJ_POINT("D forms.loop--forms.next", "::i", i);
    sum += values[i];
  }
  return sum;
}

static int evaluated(void) {
  return ++evaluations;
}

int main(void) {
  const int64_t value = -5;
  const struct Bits bits = {3, -2, 200, 1, -1};
  const int values[4] = {1, 2, 3, 4};
  scalars(&value, kBlue);
  bit_fields(&bits);
  const int sum = sixteen(1, 2, 3, 4) + sixteen(2, 3, 4, 5);
  if (sum != 8 || unrolled(values, 4) != 10) return 1;
  SJ_POINT("D forms.call--forms.never", "n::", evaluated());
  if (evaluations != (getenv("SJ_RINGS") != NULL)) {
    printf("an argument was evaluated %d times\n", evaluations);
    return 1;
  }
  if (forms_shared(1) + forms_other_unit(1) != 6) return 1;
  puts("forms ok");
  return 0;
}
