/* The one contract between the BPF programs and the tracer: what a site's arguments look like (user
 * to kernel) and what a hit looks like (kernel to user). Compiles as C11, C++ and BPF C.
 *
 * Records have no version: both sides are built together and the object is embedded in the tracer.
 */
#ifndef SJ_BPF_EVENTS_H
#define SJ_BPF_EVENTS_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#ifdef __cplusplus
#define SJ_STATIC_ASSERT static_assert
#else
#define SJ_STATIC_ASSERT _Static_assert
#endif

#define SJ_MAX_ARGS 16
#define SJ_MAX_SITES 16384
#define SJ_MAX_CPUS 1024
/* Registers are numbered as the words of the kernel's struct pt_regs; no architecture has more. */
#define SJ_MAX_REGS 34

/* Where an argument's value is. */
enum sj_arg_kind {
  SJ_ARG_CONST = 0,  /* displacement itself */
  SJ_ARG_REG = 1,    /* the base register */
  SJ_ARG_MEMORY = 2, /* in the target's memory, at base + (index << shift) + displacement */
};
#define SJ_NO_REG 0xff

struct sj_arg {
  __s64 displacement;
  __u8 kind;
  __u8 base;  /* word in pt_regs, or SJ_NO_REG */
  __u8 index; /* word in pt_regs, or SJ_NO_REG */
  __u8 shift;
  __u8 bytes; /* 1, 2, 4, 8 */
  __u8 is_signed;
  __u8 low_bit; /* 8 for %ah and its kind, else 0 */
  __u8 pad;
};
SJ_STATIC_ASSERT(sizeof(struct sj_arg) == 16, "sj_arg is shared with BPF");

/* One probe site; the attach cookie is its index. */
struct sj_site {
  __u32 point;
  __u32 args;
  struct sj_arg arg[SJ_MAX_ARGS];
};
SJ_STATIC_ASSERT(sizeof(struct sj_site) == 8 + 16 * SJ_MAX_ARGS, "sj_site is shared with BPF");

/* A hit. Only the first `args` values are pushed. */
struct sj_hit {
  __u64 ts_ns; /* CLOCK_MONOTONIC */
  __u64 seq;   /* per CPU, counts kept and lost hits alike */
  __u32 tid;
  __u16 point;
  __u8 args;
  __u8 flags;
  __u64 value[SJ_MAX_ARGS];
};
#define SJ_HIT_HEADER_BYTES 24
#define SJ_HIT_FAULT 1 /* an argument could not be read: its value is 0 */
SJ_STATIC_ASSERT(sizeof(struct sj_hit) == SJ_HIT_HEADER_BYTES + 8 * SJ_MAX_ARGS,
                 "sj_hit is shared with BPF");

/* The gate: a hit counts when open_ns <= ts < close_ns. Being instants, both marks hold on every
 * CPU at once, whenever that CPU comes to see them. Lives in the object's .data, which the tracer
 * maps. */
struct sj_gate {
  __u64 open_ns;
  __u64 close_ns;
};

#endif
