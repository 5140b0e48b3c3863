/* Only looked at, never run: middle() and inner() are inlined into outer(), whose name no other
 * has. */
volatile int sink;

static inline __attribute__((always_inline)) void inner(int value) {
  sink = value; /* the store that the test looks for */
}

static inline __attribute__((always_inline)) void middle(int value) {
  inner(value + 1);
}

__attribute__((noinline)) void outer(int value) {
  middle(value);
}

int main(int argc, char** argv) {
  (void)argv;
  outer(argc);
  return 0;
}
