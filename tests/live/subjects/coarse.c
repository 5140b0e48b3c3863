/* A program without points, whose functions' arguments all follow from a number that counts up.
 * Runs until a signal ends it. It must not depend on optimisation what a function is given, so
 * none is inlined, cloned or looked into. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __clang__
#define OPAQUE __attribute__((noinline, used, visibility("default")))
#else
#define OPAQUE __attribute__((noipa, used, visibility("default")))
#endif

struct inner {
  uint8_t a;
  int16_t b;
  uint32_t c;
  uint64_t d;
};

struct pdu {
  void* unused;
  struct inner* inner; /* at 8; NULL in every third */
  uint32_t sn;         /* at 16 */
  int32_t delta;       /* at 20 */
};

enum kind { kVoice = 3, kData = 300 };

struct header {
  unsigned version : 3;
  unsigned kind : 5;
  signed gain : 6;
  uint32_t teid;
};

struct unit {
  struct header header;
  union {
    uint16_t rnti;
    uint32_t raw;
  };
  uint16_t slots[4];
  struct pdu* pdu;
  enum kind kind;
};

/* Values that only debug information can find: members, bits, a union without a name, a record by
 * value. */
OPAQUE void coarse_named(const struct unit* unit, double unused, struct unit large, uint32_t count,
                         int8_t small) {
  static volatile double sink;
  sink = unused + unit->header.kind + large.header.teid + count + small;
}

static inline __attribute__((always_inline)) uint64_t coarse_inlined(uint64_t n) {
  __asm__ volatile("" : "+r"(n));
  return n * 7 + 5;
}

OPAQUE void coarse_registers(uint64_t n, int8_t a, uint16_t b, int32_t c, uint64_t d, int16_t e,
                             uint32_t f, int64_t g) {
  static volatile uint64_t sink;
  sink = n + (uint64_t)a + b + (uint64_t)c + d + (uint64_t)e + f + (uint64_t)g;
}

OPAQUE void coarse_pointers(struct pdu* pdu, struct pdu** slot) {
  static struct pdu* volatile sink;
  sink = pdu;
  sink = *slot;
}

/* A function without a frame: it begins with an instruction that the kernel must step over. */
OPAQUE uint64_t coarse_leaf(uint64_t n) {
  return n * 3 + 1;
}

/* The loop may begin at the function's first instruction. */
OPAQUE uint64_t coarse_loop(uint64_t n, uint64_t* values) {
  do {
    *values += n;
  } while (--n != 0);
  return *values;
}

/* The function calls another one, so it has a frame, and begins with an instruction that the kernel
 * emulates. */
OPAQUE uint64_t coarse_frame(uint64_t n, const uint64_t* values) {
  uint64_t sum = coarse_leaf(n);
  for (unsigned i = 0; i < 8; ++i) sum += values[i];
  return sum + coarse_leaf(n);
}

int main(void) {
  struct inner inner;
  uint64_t values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  puts("ready");
  fflush(stdout);
  for (uint64_t n = 1;; ++n) {
    struct pdu pdu = {.unused = NULL,
                      .inner = n % 3 == 0 ? NULL : &inner,
                      .sn = (uint32_t)n,
                      .delta = -(int32_t)n};
    struct pdu* slot = &pdu;
    uint64_t loops = 0;
    inner = (struct inner){
        .a = (uint8_t)n, .b = (int16_t)(-(int64_t)(n % 1000)), .c = (uint32_t)(n * 11), .d = ~n};
    coarse_registers(n, (int8_t)n, (uint16_t)(n * 7), -(int32_t)n, n << 33 | n, (int16_t)(-3 * n),
                     (uint32_t)n ^ 0x5aa5, -1000 * (int64_t)n);
    coarse_pointers(&pdu, &slot);
    struct unit unit = {.header = {.version = 5,
                                   .kind = (unsigned)n & 31,
                                   .gain = (int)(n % 60) - 30,
                                   .teid = (uint32_t)(n * 13)},
                        .rnti = (uint16_t)(n + 0x4601),
                        .slots = {1, 2, (uint16_t)(n * 3), 4},
                        .pdu = &pdu,
                        .kind = n % 2 == 0 ? kVoice : kData};
    struct unit large = unit;
    large.header.teid = (uint32_t)(n * 17);
    coarse_named(&unit, 1.5, large, (uint32_t)n + 1, (int8_t)-n);
    if (coarse_inlined(n) == 0) return 2;
    if (coarse_leaf(n) != n * 3 + 1) return 3;
    if (coarse_loop(n % 5 + 1, &loops) == 0) return 4;
    if (coarse_frame(n, values) != 36 + 2 * (n * 3 + 1)) return 5;
    usleep(300);
  }
}
