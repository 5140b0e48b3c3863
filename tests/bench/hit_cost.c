/* Hits a point with FIELDS integers as fast as it can, in rounds, until a signal ends it. Each
 * round prints the thread's CPU time a hit in nanoseconds. Usage: hit-cost-target-N THREADS; each
 * thread has a CPU of its own. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sojourn/point.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kHitsOfRound = 10000, kMaxThreads = 64 };

static volatile sig_atomic_t ended;

static void end(int signal_number) {
  (void)signal_number;
  ended = 1;
}

static double cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Values that the compiler does not know, so that each is in a register or in memory. */
static volatile uint32_t rnti = 0x4601, drb = 1;

__attribute__((noinline)) static void step(uint32_t i, uint16_t ue, uint8_t bearer) {
#if FIELDS == 0
  SJ_POINT("D bench.in--bench.out", "::");
#elif FIELDS == 1
  SJ_POINT("D bench.in--bench.out", "::psn", i);
#elif FIELDS == 5
  SJ_POINT("D bench.in--bench.out", "len:rnti:drb.psn.slot", i & 1023, ue, bearer, i, i >> 4);
#else
  SJ_POINT("D bench.in--bench.out", "len.prb.mcs:rnti:drb.psn.slot.harq.rv.tb", i & 1023, i & 255,
           i & 31, ue, bearer, i, i >> 4, i & 15, i & 3, i >> 2);
#endif
  (void)i, (void)ue, (void)bearer;
}

static void* hit(void* cpu) {
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET((unsigned)(uintptr_t)cpu, &own);
  pthread_setaffinity_np(pthread_self(), sizeof(own), &own);
  while (!ended) {
    const uint16_t ue = (uint16_t)rnti;
    const uint8_t bearer = (uint8_t)drb;
    const double before = cpu_ns();
    for (uint32_t i = 0; i < kHitsOfRound; ++i) step(i, ue, bearer);
    printf("%.1f\n", (cpu_ns() - before) / kHitsOfRound);
    fflush(stdout);
  }
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t threads[kMaxThreads];
  const int count = argc == 2 ? atoi(argv[1]) : 1;

  if (count < 1 || count > kMaxThreads) {
    fprintf(stderr, "usage: %s THREADS, at most %d\n", argv[0], kMaxThreads);
    return 2;
  }
  signal(SIGTERM, end);
  for (int i = 0; i < count; ++i)
    if (pthread_create(&threads[i], NULL, hit, (void*)(uintptr_t)i) != 0) return 1;
  for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
  return 0;
}
