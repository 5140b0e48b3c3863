/* What the subjects of the live tests share: one program, one danger, one line at the end.
 * Usage of each: SUBJECT [SECONDS] (30 by default). It prints "ready PID", works until the time is
 * over or SIGTERM or SIGINT comes, prints "SUBJECT: name=count ..." and exits with 0 when it was
 * not harmed. `armed_hits` counts the hits while somebody has raised the semaphore: an argument is
 * evaluated only then. A tracer raises it before its probe is in place, so only the tracer knows
 * how many hits it saw. */
#ifndef SOJOURN_TESTS_SUBJECT_H
#define SOJOURN_TESTS_SUBJECT_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static unsigned long armed_hits;
static volatile sig_atomic_t subject_stopped;
static time_t subject_end_s;

static void subject_stop(int signal_number) {
  (void)signal_number;
  subject_stopped = 1;
}

static inline time_t subject_now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

static inline void subject_start(int argc, char** argv) {
  subject_end_s = subject_now_s() + (argc > 1 ? strtol(argv[1], NULL, 10) : 30);
  signal(SIGTERM, subject_stop);
  signal(SIGINT, subject_stop);
  printf("ready %d\n", (int)getpid());
  fflush(stdout);
}

static inline int subject_goes_on(void) {
  return !subject_stopped && subject_now_s() < subject_end_s;
}

#endif
