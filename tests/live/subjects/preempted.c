/* On each CPU a thread that hits a point without a pause, and one of real-time priority that
 * interrupts it every 300 microseconds, wherever it is, to hit another: also in the middle of what
 * a hit runs in the kernel, where that can be preempted. Both count their hits from 0 on. Says
 * "ready", or why it is not. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <sojourn/point.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void* hit_without_pause(void* thread) {
  for (unsigned number = 0;; ++number)
    SJ_POINT("D busy.in--busy.out", "::thread.number", (long)thread, number);
  return NULL;
}

static void* interrupt(void* thread) {
  struct timespec due;
  clock_gettime(CLOCK_MONOTONIC, &due);
  for (unsigned number = 0;; ++number) {
    SJ_POINT("D urgent.in--urgent.out", "::thread.number", (long)thread, number);
    due.tv_nsec += 300 * 1000;
    due.tv_sec += due.tv_nsec / 1000000000;
    due.tv_nsec %= 1000000000;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
  }
  return NULL;
}

static int start(void* (*work)(void*), long number, int cpu, int priority) {
  const struct sched_param parameters = {.sched_priority = priority};
  pthread_attr_t attributes;
  pthread_t thread;
  cpu_set_t cpus;
  int failed = 0;
  CPU_ZERO(&cpus);
  CPU_SET((size_t)cpu, &cpus);
  pthread_attr_init(&attributes);
  pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
  pthread_attr_setschedpolicy(&attributes, priority > 0 ? SCHED_FIFO : SCHED_OTHER);
  pthread_attr_setschedparam(&attributes, &parameters);
  pthread_attr_setaffinity_np(&attributes, sizeof(cpus), &cpus);
  failed = pthread_create(&thread, &attributes, work, (void*)number);
  pthread_attr_destroy(&attributes);
  return failed;
}

int main(void) {
  const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
  for (long cpu = 0; cpu < cpus; ++cpu) {
    int failed = start(hit_without_pause, 2 * cpu, (int)cpu, 0);
    if (!failed) failed = start(interrupt, 2 * cpu + 1, (int)cpu, 10);
    if (failed) {
      printf("no thread of that priority: %s\n", strerror(failed));
      return 1;
    }
  }
  puts("ready");
  fflush(stdout);
  pause();
  return 0;
}
