/* Measures a system call, and a handover between two threads on one CPU. Prints two numbers of
 * nanoseconds, each the median of its rounds; with an argument it first prints "ready" and waits
 * for a line. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 21
#define CALLS 100000
#define HANDOVERS 20000

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int by_size(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return (x > y) - (x < y);
}

static double median(double* values) {
  qsort(values, ROUNDS, sizeof(*values), by_size);
  return values[ROUNDS / 2];
}

static double call_ns(void) {
  const uint64_t begin = now_ns();
  for (int i = 0; i < CALLS; i++) syscall(SYS_getppid);
  return (double)(now_ns() - begin) / CALLS;
}

static int to_other[2];
static int to_main[2];

static void* answer(void* unused) {
  char byte;
  while (read(to_other[0], &byte, 1) == 1)
    if (write(to_main[1], &byte, 1) != 1) break;
  return unused;
}

/* Two switches, two wakeups and four system calls; the system calls' share is the other figure's.
 */
static double handover_ns(void) {
  char byte = 0;
  const uint64_t begin = now_ns();
  for (int i = 0; i < HANDOVERS; i++)
    if (write(to_other[1], &byte, 1) != 1 || read(to_main[0], &byte, 1) != 1) exit(1);
  return (double)(now_ns() - begin) / HANDOVERS;
}

int main(int argc, char** argv) {
  double calls[ROUNDS];
  double handovers[ROUNDS];
  pthread_t other;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  (void)argv;
  if (sched_setaffinity(0, sizeof(one), &one) != 0 || pipe(to_other) != 0 || pipe(to_main) != 0 ||
      pthread_create(&other, NULL, answer, NULL) != 0)
    return 1;
  if (argc > 1) {
    puts("ready");
    fflush(stdout);
    if (getchar() == EOF) return 1;
  }
  for (int round = 0; round < ROUNDS; round++) {
    calls[round] = call_ns();
    handovers[round] = handover_ns();
  }
  printf("%.0f %.0f\n", median(calls), median(handovers));
  return 0;
}
