/*
 * LatSeq's macro and functions over this library's points: code that was instrumented for LatSeq
 * compiles unchanged when its latseq.h is this one.
 *
 *   LATSEQ_P("D rlc.tx.am--rlc.seg.am", "len%d:rnti%d:drb%d.psn%d", len, rnti, drb, psn);
 *
 * As SJ_POINT (point.h), with these differences: each name is followed by a printf conversion,
 * groups may be missing, I and S may name one place ("I mac.harq.up"). The format is read by who
 * attaches, never by the program; what it cannot make sense of it lists as unusable. A value's
 * width is its C type's, whatever the conversion says; nothing is cut to 32 bits. Both strings are
 * literals. Unlike LatSeq's, arguments are evaluated only while somebody is attached.
 */
#ifndef SOJOURN_LATSEQ_H
#define SOJOURN_LATSEQ_H

#include <inttypes.h>
#include <sojourn/point.h>

#define LATSEQ_P(...) SJ_POINT_OF_(sj_printf, __VA_ARGS__)

#define OCCUPANCY(written, read) ((written) - (read))

/* Points need no set-up and no shutdown: these always succeed. */
static inline int init_latseq(const char* appname, uint64_t cpufreq) {
  (void)appname;
  (void)cpufreq;
  return 1;
}

static inline int close_latseq(void) {
  return 1;
}

static inline int init_thread_for_latseq(void) {
  return 0;
}

/* LatSeq passes this to init_latseq, which ignores it here. */
static inline uint64_t get_cpu_freq_cycles(void) {
  return 0;
}

#endif
