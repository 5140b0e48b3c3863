/* A program with 1,000 points that it never hits, whose two threads hand a word to each other as
 * fast as they can on one CPU: each handover is a context switch. Prints the nanoseconds of one,
 * five times a second. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <sojourn/point.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* A row of macros is taken for one statement. */
/* clang-format off */
#define ONE(number) SJ_POINT("D attach.s" #number "--attach.out", "::round", round);
#define TEN(tens)                                                                              \
  ONE(tens##0) ONE(tens##1) ONE(tens##2) ONE(tens##3) ONE(tens##4) ONE(tens##5) ONE(tens##6)   \
  ONE(tens##7) ONE(tens##8) ONE(tens##9)
#define HUNDRED(hundreds)                                                                      \
  TEN(hundreds##0) TEN(hundreds##1) TEN(hundreds##2) TEN(hundreds##3) TEN(hundreds##4)         \
  TEN(hundreds##5) TEN(hundreds##6) TEN(hundreds##7) TEN(hundreds##8) TEN(hundreds##9)

__attribute__((noinline)) static void hit_all(unsigned round) {
  HUNDRED(0) HUNDRED(1) HUNDRED(2) HUNDRED(3) HUNDRED(4) HUNDRED(5) HUNDRED(6) HUNDRED(7) HUNDRED(8) HUNDRED(9)
}
/* clang-format on */

static int there[2];
static int back[2];

static void* answer(void* unused) {
  char word = 0;
  while (read(there[0], &word, 1) == 1 && write(back[1], &word, 1) == 1) {
  }
  return unused;
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int main(int argc, char** argv) {
  pthread_t other;
  cpu_set_t one;
  char word = 0;
  (void)argv;
  if (argc > 1) hit_all(0);
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  sched_setaffinity(0, sizeof(one), &one);
  if (pipe(there) != 0 || pipe(back) != 0 || pthread_create(&other, NULL, answer, NULL) != 0)
    return 1;
  for (;;) {
    const uint64_t begin_ns = now_ns();
    uint64_t end_ns = begin_ns;
    unsigned switches = 0;
    for (; end_ns - begin_ns < 200000000; switches += 200) {
      for (int round = 0; round < 100; ++round)
        if (write(there[1], &word, 1) != 1 || read(back[0], &word, 1) != 1) return 1;
      end_ns = now_ns();
    }
    printf("%.1f\n", (double)(end_ns - begin_ns) / switches);
    fflush(stdout);
  }
}
