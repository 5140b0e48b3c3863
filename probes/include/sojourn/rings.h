/*
 * What a program can ask of the ring engine. None of it is needed for points to work.
 *
 * A thread's first recorded hit finds it a ring, with a few system calls: some 10 us, and a
 * millisecond where no prepared ring is left. A real-time thread that cannot spare them calls
 * sj_thread_prepare() before its loop, and never enters the kernel for a point again. Each module
 * (the executable, each library) with points has rings of its own: call it from the one whose
 * points the thread hits. Needs the runtime library, as the rings do; without -DSJ_RINGS it does
 * nothing.
 */
#ifndef SOJOURN_RINGS_H
#define SOJOURN_RINGS_H

#if defined(SJ_RINGS) && !defined(SJ_NO_RINGS) && !defined(SJ_DISABLE_POINTS)

#ifdef __cplusplus
extern "C" {
#endif
/* 1: the calling thread has a ring. 0: no ring is available; its hits will be counted as lost. */
__attribute__((visibility("hidden"))) int sj_thread_prepare(void);
#ifdef __cplusplus
}
#endif

#else

static inline int sj_thread_prepare(void) {
  return 0;
}

#endif

#endif
