/*
 * What a point costs its thread, in rounds that take turns: bare loops, the bare cycle counter, and
 * points that nobody traces, that a ring collector drains, or that LTTng-UST takes instead of us.
 * Each round prints "NAME THREADS NS OVER", nanoseconds of thread time for one turn of its loop,
 * and what that is over the bare loop right before; the end prints the events written and the
 * counter's speed to stderr. Thread n has CPU n. x86-64. A flood is no cost: events by the clock,
 * as many a second as a collector that also encodes and writes shall bear.
 *
 * The first value of each event is its number << 4 | its fields, by which probe_drain.c walks the
 * rings and sees that none is missing.
 */
#include <pthread.h>
#include <sched.h>
#include <sojourn/point.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef WITH_SDT
#include <sys/sdt.h>
#endif
#ifdef WITH_LTTNG
#include "probe_lttng.h"
#else
#include "probes/src/rings.h"
#endif

enum { kTurns = 10000, kMaxThreads = 16, kFloodPerSecond = 8500000 };

static int threads_wanted;
static double seconds_wanted;
static pthread_mutex_t print_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t events_written;

static uint64_t now_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- the loops ---- */

/* Values that the compiler does not know; half of them change with each turn, as real ones do. */
static volatile uint32_t rnti_source = 0x4601, bearer_source = 1;
static volatile uint64_t sink;

struct state {
  uint32_t number; /* of the next event */
  uint64_t sum;
};

#define EVENT(fields) ((number + i) << 4 | (fields))
#define ARGS_1 EVENT(1)
#define ARGS_2 EVENT(2), rnti
#define ARGS_3 EVENT(3), rnti, bearer
#define ARGS_4 EVENT(4), rnti, bearer, i
#define ARGS_5 EVENT(5), rnti, bearer, i, i >> 4
#define ARGS_6 EVENT(6), rnti, bearer, i, i >> 4, i & 15
#define ARGS_7 EVENT(7), rnti, bearer, i, i >> 4, i & 15, rnti
#define ARGS_8 EVENT(8), rnti, bearer, i, i >> 4, i & 15, rnti, i >> 2
#define ARGS_9 EVENT(9), rnti, bearer, i, i >> 4, i & 15, rnti, i >> 2, bearer
#define ARGS_10 EVENT(10), rnti, bearer, i, i >> 4, i & 15, rnti, i >> 2, bearer, i & 3

/* One loop a function, so that no loop's registers are another's. */
#define LOOP(name, ...)                                                                \
  __attribute__((noinline)) static void name(struct state* state) {                    \
    const uint32_t rnti = rnti_source, bearer = bearer_source, number = state->number; \
    uint64_t sum = state->sum;                                                         \
    for (uint32_t i = 0; i < kTurns; ++i) {                                            \
      __VA_ARGS__;                                                                     \
    }                                                                                  \
    state->sum = sum;                                                                  \
    (void)rnti, (void)bearer, (void)number;                                            \
  }

/* A little work: a hash is added up. Each turn has hardly to wait for the one before, so that what
 * a point adds has nothing to hide behind; kept out of vectors, which a point would also do. */
#define WORK                                     \
  sum += (i * UINT64_C(2654435761)) >> 7 ^ rnti; \
  __asm__ volatile("" : "+r"(sum))

#ifdef WITH_LTTNG
LOOP(lttng_5, lttng_ust_tracepoint(sj_bench, five, ARGS_5))
#else
LOOP(idle_bare, WORK)
LOOP(idle_point_1, WORK; SJ_POINT("D idle.one--idle.out", "::a", ARGS_1))
LOOP(idle_point_5, WORK; SJ_POINT("D idle.five--idle.out", "::a.b.c.d.e", ARGS_5))
LOOP(idle_point_10, WORK; SJ_POINT("D idle.ten--idle.out", "::a.b.c.d.e.f.g.h.i.j", ARGS_10))
#ifdef WITH_SDT
LOOP(idle_sdt_5, WORK; DTRACE_PROBE5(bench, idle, EVENT(5), rnti, bearer, i, i >> 4))
#endif

struct forty_bytes {
  uint64_t value[5];
};
static struct forty_bytes forty[1024];

LOOP(counter, sink = __builtin_ia32_rdtsc())
LOOP(counter_and_store, volatile struct forty_bytes* const to = &forty[i % 1024];
     to->value[0] = __builtin_ia32_rdtsc(); to->value[1] = i; to->value[2] = rnti;
     to->value[3] = bearer; to->value[4] = i >> 4)
LOOP(ring_1, SJ_POINT("D ring.r1--ring.out", "::a", ARGS_1))
LOOP(ring_2, SJ_POINT("D ring.r2--ring.out", "::a.b", ARGS_2))
LOOP(ring_3, SJ_POINT("D ring.r3--ring.out", "::a.b.c", ARGS_3))
LOOP(ring_4, SJ_POINT("D ring.r4--ring.out", "::a.b.c.d", ARGS_4))
LOOP(ring_5, SJ_POINT("D ring.r5--ring.out", "::a.b.c.d.e", ARGS_5))
LOOP(ring_6, SJ_POINT("D ring.r6--ring.out", "::a.b.c.d.e.f", ARGS_6))
LOOP(ring_7, SJ_POINT("D ring.r7--ring.out", "::a.b.c.d.e.f.g", ARGS_7))
LOOP(ring_8, SJ_POINT("D ring.r8--ring.out", "::a.b.c.d.e.f.g.h", ARGS_8))
LOOP(ring_9, SJ_POINT("D ring.r9--ring.out", "::a.b.c.d.e.f.g.h.i", ARGS_9))
LOOP(ring_10, SJ_POINT("D ring.r10--ring.out", "::a.b.c.d.e.f.g.h.i.j", ARGS_10))
#endif

struct loop {
  const char* kind; /* the runs that it takes part in */
  const char* name;
  void (*run)(struct state*);
  uint32_t writes; /* 1: an event a turn */
};

/* The first measurement of a kind is the base of its others. */
static const struct loop all_loops[] = {
#ifdef WITH_LTTNG
    {"lttng", "lttng", lttng_5, 1},
#else
    {"idle", "bare", idle_bare, 0},     {"idle", "off:1", idle_point_1, 0},
    {"idle", "off:5", idle_point_5, 0}, {"idle", "off:10", idle_point_10, 0},
#ifdef WITH_SDT
    {"idle", "sdt:5", idle_sdt_5, 0},
#endif
    {"ring", "rdtsc", counter, 0},      {"ring", "rdtsc+40", counter_and_store, 0},
    {"ring", "ring:1", ring_1, 1},      {"ring", "ring:2", ring_2, 1},
    {"ring", "ring:3", ring_3, 1},      {"ring", "ring:4", ring_4, 1},
    {"ring", "ring:5", ring_5, 1},      {"ring", "ring:6", ring_6, 1},
    {"ring", "ring:7", ring_7, 1},      {"ring", "ring:8", ring_8, 1},
    {"ring", "ring:9", ring_9, 1},      {"ring", "ring:10", ring_10, 1},
    {"flood", "ring:5", ring_5, 1},
#endif
};

enum { kLoops = sizeof(all_loops) / sizeof(all_loops[0]) };
static struct loop loops[kLoops];
static size_t loop_count;

/* ---- the rounds ---- */

/* Between rounds, off the clock: a round must fit whole, or a collector that has no CPU at the
 * moment would turn this into a test of the scheduler. */
static void wait_for_room(void) {
#ifdef WITH_LTTNG
  usleep(2000);
#else
  struct sj_ring* const ring = sj_ring_self;
  const struct sj_ring_private* const own =
      (const struct sj_ring_private*)(const void*)((const char*)ring + SJ_RING_PRIVATE);
  while (own->alive &&
         __atomic_load_n(&ring->limit, __ATOMIC_ACQUIRE) - own->reserved < kTurns * 64)
    usleep(100);
#endif
}

static void wait_for_collector(void) {
#ifndef WITH_LTTNG
  const struct sj_arena* const arena = sj_runtime.arena;
  while (__atomic_load_n((const uint16_t*)(uintptr_t)arena->flags_address, __ATOMIC_ACQUIRE) == 0)
    usleep(1000);
#endif
}

static double run_loop(const struct loop* loop, struct state* state) {
  const uint64_t before_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
  loop->run(state);
  const uint64_t took_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
  if (loop->writes) state->number += kTurns;
  sink = state->sum;
  return (double)took_ns / kTurns;
}

struct round {
  double base_ns, ns;
};

static void print_rounds(const struct round* rounds) {
  pthread_mutex_lock(&print_lock);
  for (size_t i = 0; i < loop_count; ++i)
    printf("%s %d %.3f %.3f\n", loops[i].name, threads_wanted, rounds[i].ns,
           rounds[i].ns - rounds[i].base_ns);
  pthread_mutex_unlock(&print_lock);
}

/* Events that find no room are lost: the collector reports how many. */
static void* run_flood(void* argument) {
  (void)argument;
  struct state state = {.number = 0, .sum = 0};
  const uint64_t begin_ns = now_ns(CLOCK_MONOTONIC);
  const uint64_t end_ns = begin_ns + (uint64_t)(seconds_wanted * 1e9);
  for (uint64_t now = begin_ns; now < end_ns; now = now_ns(CLOCK_MONOTONIC)) {
    run_loop(&loops[0], &state);
    const uint64_t due_ns = begin_ns + (uint64_t)state.number * 1000000000u / kFloodPerSecond;
    const struct timespec due = {.tv_sec = (time_t)(due_ns / 1000000000u),
                                 .tv_nsec = (long)(due_ns % 1000000000u)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
  }
  __atomic_fetch_add(&events_written, state.number, __ATOMIC_RELAXED);
  return NULL;
}

static void* run_thread(void* argument) {
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET((unsigned)(uintptr_t)argument, &own);
  pthread_setaffinity_np(pthread_self(), sizeof(own), &own);

  struct state state = {.number = 0, .sum = 0};
  const uint64_t end_ns = now_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds_wanted * 1e9);
  for (int turn = 0; now_ns(CLOCK_MONOTONIC) < end_ns; ++turn) {
    struct round rounds[kLoops];
    for (size_t i = 0; i < loop_count; ++i) {
      wait_for_room();
      /* Before each, so that each follows the same: the processor's speed comes in steps. */
      rounds[i].base_ns = run_loop(&loops[0], &state);
      rounds[i].ns = run_loop(&loops[i], &state);
    }
    if (turn > 0) print_rounds(rounds); /* the first is cold */
  }
  __atomic_fetch_add(&events_written, state.number, __ATOMIC_RELAXED);
  return NULL;
}

static int choose_loops(const char* kind) {
  for (size_t i = 0; i < kLoops; ++i)
    if (strcmp(all_loops[i].kind, kind) == 0) loops[loop_count++] = all_loops[i];
  return loop_count > 0;
}

int main(int argc, char** argv) {
  pthread_t threads[kMaxThreads];
  threads_wanted = argc == 4 ? atoi(argv[2]) : 0;
  seconds_wanted = argc == 4 ? atof(argv[3]) : 0;
  if (threads_wanted < 1 || threads_wanted > kMaxThreads || !choose_loops(argv[1])) {
    fprintf(stderr, "usage: %s idle|ring|flood|lttng THREADS SECONDS, at most %d threads\n",
            argv[0], kMaxThreads);
    return 2;
  }
  const int is_flood = strcmp(argv[1], "flood") == 0;
  if (is_flood || strcmp(argv[1], "ring") == 0) wait_for_collector();
  const uint64_t begin_ns = now_ns(CLOCK_MONOTONIC), begin = __builtin_ia32_rdtsc();
  void* (*const run)(void*) = is_flood ? run_flood : run_thread;
  for (int i = 0; i < threads_wanted; ++i)
    if (pthread_create(&threads[i], NULL, run, (void*)(uintptr_t)i) != 0) return 1;
  for (int i = 0; i < threads_wanted; ++i) pthread_join(threads[i], NULL);
  const uint64_t ticks = __builtin_ia32_rdtsc() - begin;
  const double took_ns = (double)(now_ns(CLOCK_MONOTONIC) - begin_ns);
  fprintf(stderr, "%llu events, %.3f GHz, %.2f million a second\n",
          (unsigned long long)events_written, (double)ticks / took_ns,
          (double)events_written * 1e3 / took_ns);
  return 0;
}
