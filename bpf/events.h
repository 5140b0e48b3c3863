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
  SJ_ARG_CHAIN = 3, /* the first `shift` steps of chain `displacement`, from the base register on */
  SJ_ARG_FAULTS = 4, /* the last of its site: a bit for each that could not be read, from bit 0 */
  SJ_ARG_SPAN = 5,   /* in memory at base + displacement, `shift` bytes into the site's span */
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
  __u8 number;  /* which of its site: its bit in SJ_ARG_FAULTS; set when the site is loaded */
};
SJ_STATIC_ASSERT(sizeof(struct sj_arg) == 16, "sj_arg is shared with BPF");

/* One step on the way to a value: adds `add`, then reads `bytes` bytes at that address (0: reads
 * nothing), then keeps `bits` bits from `low_bit` on, widened to 64 bits with or without their
 * sign. */
struct sj_step {
  __s64 add;
  __u8 bytes; /* 0, 1, 2, 4, 8 */
  __u8 low_bit;
  __u8 bits; /* 1 to 64 - low_bit */
  __u8 is_signed;
  __u8 pad[4];
};
SJ_STATIC_ASSERT(sizeof(struct sj_step) == 16, "sj_step is shared with BPF");

#define SJ_MAX_STEPS 8
#define SJ_MAX_CHAINS 16384
struct sj_chain {
  struct sj_step step[SJ_MAX_STEPS];
};
SJ_STATIC_ASSERT(sizeof(struct sj_chain) == 16 * SJ_MAX_STEPS, "sj_chain is shared with BPF");

/* A test that a hit must pass to be recorded. The tested value is an argument, or its difference to
 * another argument. The test is value - low <= width, in 64 bits without a sign, or its negation.
 */
struct sj_test {
  __u64 low;
  __u64 width;
  __u8 arg;
  __u8 is_negated;
  __u8 other; /* argument that is subtracted, or SJ_NO_ARG */
  __u8 pad[5];
};
#define SJ_NO_ARG 0xff
SJ_STATIC_ASSERT(sizeof(struct sj_test) == 24, "sj_test is shared with BPF");
#define SJ_MAX_TESTS 4

/* Memory that holds several arguments, and is read in one go before them; 0 bytes: there is none.
 */
struct sj_span {
  __s64 displacement;
  __u16 bytes;
  __u8 base;
  __u8 pad[5];
};
SJ_STATIC_ASSERT(sizeof(struct sj_span) == 16, "sj_span is shared with BPF");
#define SJ_MAX_SPAN 128

/* One probe site; the attach cookie is its index. */
struct sj_site {
  __u32 point;
  __u32 args;
  __u32 tests; /* all of them must hold */
  __u32 pad;
  struct sj_span span;
  struct sj_arg arg[SJ_MAX_ARGS];
  struct sj_test test[SJ_MAX_TESTS];
};
SJ_STATIC_ASSERT(sizeof(struct sj_site) == 16 + 16 + 16 * SJ_MAX_ARGS + 24 * SJ_MAX_TESTS,
                 "sj_site is shared with BPF");

/* A hit, in its slot of a ring. A slot is as long as the target's longest hit needs. */
struct sj_hit {
  __u64 ts_ns;  /* CLOCK_MONOTONIC */
  __u64 commit; /* written last: the hit's number in its stream, from 1, kept and lost hits alike */
  __u32 tid;
  __u16 point;
  __u8 args;
  __u8 flags;
  __u64 value[SJ_MAX_ARGS]; /* the first `args` of them */
};
#define SJ_HIT_HEADER_BYTES 24
#define SJ_HIT_FAULT 1 /* an argument could not be read: its value is 0 */
SJ_STATIC_ASSERT(sizeof(struct sj_hit) == SJ_HIT_HEADER_BYTES + 8 * SJ_MAX_ARGS,
                 "sj_hit is shared with BPF");

/* One CPU's ring: how far both sides are. Positions count hits and never go back; a position's slot
 * is its remainder. Slots lie in blocks, whole cache lines each, so that a block can be fetched
 * ahead of its use.
 *
 * The slot at `head` is free while head - tail is less than the number of slots. A writer that took
 * it fills it and stores `commit` last. Numbers grow with positions, so the reader knows a slot
 * that is not written yet, or was never, by a number no greater than that of the position before.
 * It waits there: a writer that is preempted delays its ring, and loses nothing. */
struct sj_cpu_ring {
  __u64 head; /* positions taken; written by the BPF programs */
  __u64 lost; /* hits that found no slot; written by the BPF programs */
  __u64 apart_from_tail[14];
  __u64 tail; /* positions given back; written by the tracer */
  __u64 apart_from_next_head[15];
};
SJ_STATIC_ASSERT(sizeof(struct sj_cpu_ring) == 256, "sj_cpu_ring is shared with BPF");
#define SJ_BLOCK_SLOTS 16
#define SJ_CACHE_LINE 64
#define SJ_MAX_BLOCK_BYTES (SJ_BLOCK_SLOTS * (SJ_HIT_HEADER_BYTES + 8 * SJ_MAX_ARGS))

/* The gate: a hit counts when open_ns <= ts < close_ns. Being instants, both marks hold on every
 * CPU at once, whenever that CPU comes to see them. Lives in the object's .data, which the tracer
 * maps. */
struct sj_gate {
  __u64 open_ns;
  __u64 close_ns;
};

#endif
