/* Hits a point with five integers as fast as it can, in rounds, until a signal ends it. Each round
 * prints the thread's CPU time a hit in nanoseconds. */
#include <signal.h>
#include <sojourn/point.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { kHitsOfRound = 100000 };

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

__attribute__((noinline)) static void step(uint32_t len, uint16_t rnti, uint8_t drb, uint32_t psn,
                                           uint32_t slot) {
  SJ_POINT("D bench.in--bench.out", "len:rnti:drb.psn.slot", len, rnti, drb, psn, slot);
}

int main(void) {
  signal(SIGTERM, end);
  printf("pid %d\n", (int)getpid());
  fflush(stdout);
  while (!ended) {
    const double before = cpu_ns();
    for (uint32_t i = 0; i < kHitsOfRound; ++i) step(i & 1023, 0x4601, 1, i, i >> 4);
    printf("%.1f\n", (cpu_ns() - before) / kHitsOfRound);
    fflush(stdout);
  }
  return 0;
}
