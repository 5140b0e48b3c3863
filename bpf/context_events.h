/* The contract between the kernel context programs and the tracer, beside events.h: the kinds of
 * hits, and the values of each. A hit is an sj_hit whose point is the number that the tracer gave
 * the kind, and whose values are the members of the kind's struct, in order. Its tid is the thread
 * of the target that it is about; its CPU is the ring's. Compiles as C11, C++ and BPF C.
 */
#ifndef SJ_BPF_CONTEXT_EVENTS_H
#define SJ_BPF_CONTEXT_EVENTS_H

#include "events.h"

enum sj_context_kind {
  SJ_CONTEXT_SWITCH = 0,
  SJ_CONTEXT_WAKEUP = 1,
  SJ_CONTEXT_MIGRATE = 2,
  SJ_CONTEXT_IRQ = 3,
  SJ_CONTEXT_SOFTIRQ = 4,
  SJ_CONTEXT_SYSCALL = 5,
  SJ_CONTEXT_FAULT = 6,
  SJ_CONTEXT_SOCKET_DROP = 7,
  SJ_CONTEXT_KINDS = 8,
};

/* A CPU switched from one thread to another, at least one of them the target's. The hit's tid is
 * prev's if that is the target's, else next's. Thread 0 is the idle CPU. */
struct sj_switch {
  __u64 prev; /* tid */
  __u64 prev_pid;
  __u64 state; /* prev's state: SJ_STATE_PREEMPTED, 0 (it yielded), or the kernel's TASK_... bits */
  __u64 next;  /* tid */
  __u64 next_pid;
  __u64 next_prio; /* the kernel's priority: below 100 real time, 120 is nice 0 */
};
#define SJ_STATE_PREEMPTED 0x100
#define SJ_STATE_SLEEPING 0x1        /* TASK_INTERRUPTIBLE */
#define SJ_STATE_UNINTERRUPTIBLE 0x2 /* TASK_UNINTERRUPTIBLE */
#define SJ_STATE_DEAD 0x80           /* TASK_DEAD: it has ended */

/* A thread of the target is ready to run: it was woken, or has just been made. */
struct sj_wakeup {
  __u64 waker; /* tid of the thread that ran on the waking CPU; 0: the idle CPU */
  __u64 waker_pid;
  __u64 from; /* SJ_FROM_... */
  __u64 cpu;  /* on which it is to run */
  __u64 ns;   /* since the waker asked for it, on the waker's CPU */
};
#define SJ_FROM_THREAD 0 /* the waker itself */
#define SJ_FROM_SOFTIRQ 1
#define SJ_FROM_IRQ 2
#define SJ_FROM_CREATION 3 /* the waker made it */
#define SJ_FROM_UNKNOWN 4

struct sj_migrate {
  __u64 from; /* CPU */
  __u64 to;
};

/* A thread of the target was interrupted. The hit's stamp is the end. */
struct sj_irq {
  __u64 number; /* as /proc/interrupts has it, or SJ_VECTOR + enum sj_vector */
  __u64 ns;     /* how long */
  __u64 nested; /* 1: inside of a softirq, whose time includes it */
};
#define SJ_VECTOR 0x10000
enum sj_vector {
  SJ_VECTOR_TIMER = 0,
  SJ_VECTOR_RESCHEDULE = 1,
  SJ_VECTOR_CALL = 2,
  SJ_VECTOR_CALL_SINGLE = 3,
  SJ_VECTOR_IRQ_WORK = 4,
  SJ_VECTORS = 5,
};

struct sj_softirq {
  __u64 number;
  __u64 ns;
};
#define SJ_SOFTIRQS 10

/* A system call has returned. */
struct sj_syscall {
  __u64 number;
  __u64 ns;     /* 0: the call began before the capture did */
  __u64 result; /* signed */
  __u64 arg0;   /* its first argument: a descriptor, a futex's address */
  __u64 op;     /* the operation of futex (FUTEX_...); 0 for other calls */
};
#define SJ_MAX_SYSCALLS 1024

/* Numbers of system calls made on this CPU, where they are only counted: the value of `calls`. */
struct sj_calls {
  __u64 all;
  __u64 of_targets;
};

struct sj_fault {
  __u64 address;
  __u64 ip;
  __u64 code; /* the processor's: 1 present, 2 write, 4 from user code, 16 instruction */
};

struct sj_socket_drop {
  __u64 socket; /* its cookie */
  __u64 bytes;  /* of the packet */
  __u64 error;  /* errno's number */
};

#define SJ_CONTEXT_MAX_VALUES 6
SJ_STATIC_ASSERT(sizeof(struct sj_switch) == 8 * SJ_CONTEXT_MAX_VALUES, "the longest is sj_switch");

/* A thread's name when it was last seen. */
struct sj_thread_name {
  char comm[16];
  __u32 pid;
  __u32 pad;
};
SJ_STATIC_ASSERT(sizeof(struct sj_thread_name) == 24, "sj_thread_name is shared with BPF");

#endif
