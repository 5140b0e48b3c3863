/* A target on a machine whose CPUs' cycle counters disagree: in its code "rdtsc" is a macro of the
 * assembler, which adds SJ_UNEVEN_TICKS on odd CPUs. Three threads hit a point of their own with
 * the clock's time just before: one stays on CPU 0, one on CPU 1, one goes to and fro. Usage: NAME
 * SECONDS. */
#define _GNU_SOURCE
#include "tests/support/uneven_counters.h"

#include <pthread.h>
#include <sched.h>
#include <sojourn/point.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define TEXT_(word) #word
#define TEXT(word) TEXT_(word)

/* rdtscp says the CPU in ecx, which a hit has in use: it waits in memory of the thread. Flags may
 * change there. */
__attribute__((used)) __thread uint64_t uneven_saved;
__asm__(".macro rdtsc\n"
        "movq %rcx, %fs:uneven_saved@tpoff\n"
        "rdtscp\n"
        "andl $1, %ecx\n"
        "imull $" TEXT(SJ_UNEVEN_TICKS) ", %ecx, %ecx\n"
        "addl %ecx, %eax\n"
        "adcl $0, %edx\n"
        "movq %fs:uneven_saved@tpoff, %rcx\n"
        ".endm\n");

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t end_ns;

static void stay_on(unsigned cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (sched_setaffinity(0, sizeof(one), &one) != 0) {
    perror("sched_setaffinity");
    exit(1);
  }
}

static void rest(void) {
  usleep(500);
}

static void* on_even(void* none) {
  stay_on(0);
  for (uint64_t at = now_ns(); at < end_ns; rest(), at = now_ns())
    SJ_POINT("D even.in--even.out", "::ns", at);
  return none;
}

static void* on_odd(void* none) {
  stay_on(1);
  for (uint64_t at = now_ns(); at < end_ns; rest(), at = now_ns())
    SJ_POINT("D odd.in--odd.out", "::ns", at);
  return none;
}

static void* on_both(void* none) {
  unsigned turn = 0;
  for (uint64_t at = now_ns(); at < end_ns; rest(), at = now_ns()) {
    if (turn++ % 100 == 0) stay_on(turn / 100 % 2);
    at = now_ns();
    SJ_POINT("D both.in--both.out", "::ns", at);
  }
  return none;
}

int main(int argc, char** argv) {
  const unsigned seconds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
  end_ns = now_ns() + seconds * (uint64_t)1000000000;
  pthread_t thread[3];
  void* (*const what[3])(void*) = {on_even, on_odd, on_both};
  for (unsigned i = 0; i < 3; ++i)
    if (pthread_create(&thread[i], NULL, what[i], NULL) != 0) return 1;
  puts("ready");
  fflush(stdout);
  for (unsigned i = 0; i < 3; ++i) pthread_join(thread[i], NULL);
  return 0;
}
