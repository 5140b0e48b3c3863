/* A C program without points, and without anything that walks its stack: its functions may be
 * probed at their returns. Two threads call them, deep in each other and with longjmp() between;
 * each result follows from its argument, and is checked. Runs until SIGTERM, and then says how
 * often what was done. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define OPAQUE __attribute__((noipa, used, visibility("default")))

static volatile sig_atomic_t is_ended;

static void end(int signal_number) {
  (void)signal_number;
  is_ended = 1;
}

OPAQUE uint64_t returns_sum(uint64_t n) {
  return n * 3 + 1;
}

OPAQUE uint64_t returns_twice(uint64_t n) {
  return returns_sum(n) + returns_sum(n + 1);
}

/* Deeper than the kernel follows returns. */
OPAQUE uint64_t returns_deep(uint64_t n) {
  uint64_t below = n == 0 ? 0 : returns_deep(n - 1);
  __asm__ volatile("" : "+r"(below));
  return below + 2;
}

/* Does not return where n is a multiple of three. */
OPAQUE uint64_t returns_perhaps(uint64_t n, jmp_buf* out) {
  const uint64_t sum = returns_sum(n);
  if (n % 3 == 0) longjmp(*out, 1);
  return sum + 5;
}

struct counts {
  uint64_t first;
  uint64_t rounds;
  uint64_t jumped;
};

static void round_of(uint64_t n, struct counts* counts) {
  jmp_buf out;
  if (returns_twice(n) != 6 * n + 5) abort();
  if (returns_deep(n % 100) != 2 * (n % 100) + 2) abort();
  if (setjmp(out) != 0) {
    ++counts->jumped;
    return;
  }
  if (returns_perhaps(n, &out) != 3 * n + 6) abort();
}

static void* run(void* mine) {
  struct counts* counts = mine;
  for (; !is_ended; ++counts->rounds) {
    round_of(counts->first + counts->rounds, counts);
    usleep(300);
  }
  return NULL;
}

int main(void) {
  struct counts counts[2] = {{.first = 0}, {.first = 3000000}};
  pthread_t other;
  signal(SIGTERM, end);
  puts("ready");
  fflush(stdout);
  if (pthread_create(&other, NULL, run, &counts[1]) != 0) return 1;
  run(&counts[0]);
  pthread_join(other, NULL);
  for (int at = 0; at < 2; ++at)
    printf("rounds %llu jumped %llu\n", (unsigned long long)counts[at].rounds,
           (unsigned long long)counts[at].jumped);
}
