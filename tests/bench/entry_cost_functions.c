/* Functions that begin as most do, for entry_cost.cpp; built several times over, each time with
 * another PREFIX. What they are called with keeps the compiler from knowing their results. */
#include <stddef.h>
#include <stdint.h>

#define JOINED(prefix, name) prefix##name
#define NAMED(prefix, name) JOINED(prefix, name)
#define FUNCTION(name) __attribute__((noipa, used)) uint64_t NAMED(PREFIX, name)

FUNCTION(leaf)(uint64_t n) {
  return n * 3 + 1;
}

/* It keeps its argument over a call. */
FUNCTION(frame)(uint64_t n) {
  return NAMED(PREFIX, leaf)(n) + n;
}

/* It needs room on the stack. */
FUNCTION(room)(uint64_t n) {
  volatile uint64_t words[24];
  words[n % 24] = n;
  return NAMED(PREFIX, leaf)(words[n % 24]);
}

FUNCTION(checked)(uint64_t n) {
  if (n == 0) return 7;
  return NAMED(PREFIX, leaf)(n) + 1;
}

/* It keeps many values. */
FUNCTION(busy)(uint64_t n) {
  uint64_t a = NAMED(PREFIX, leaf)(n), b = NAMED(PREFIX, leaf)(a), c = NAMED(PREFIX, leaf)(b);
  return NAMED(PREFIX, leaf)(a + b) + NAMED(PREFIX, leaf)(b + c) + a + b + c;
}
