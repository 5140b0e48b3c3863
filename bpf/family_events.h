/* The contract between bpf/follow.bpf.c and the tracer: a record for each followed process that is
 * forked, executes another program, or ends. Compiles as C11, C++ and BPF C.
 */
#ifndef SJ_BPF_FAMILY_EVENTS_H
#define SJ_BPF_FAMILY_EVENTS_H

#include "events.h"

enum sj_family_kind {
  SJ_FAMILY_FORK = 0, /* before the child's first instruction */
  SJ_FAMILY_EXEC = 1, /* before the first instruction of the new program */
  SJ_FAMILY_EXIT = 2, /* the process's first thread has ended */
};

struct sj_family_event {
  __u64 ts_ns; /* CLOCK_MONOTONIC */
  __u32 kind;
  __u32 pid;
  __u32 parent; /* who forked it; 0 for other kinds */
  __u32 pad;
};
SJ_STATIC_ASSERT(sizeof(struct sj_family_event) == 24, "sj_family_event is shared with BPF");

#endif
