/* The kernel's own structures, as far as the BPF programs read them. Members are found by name in
 * the running kernel's BTF when a program is loaded: their order and offsets here mean nothing. */
#ifndef SJ_VMLINUX_KERNEL_H
#define SJ_VMLINUX_KERNEL_H

#include "types.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct thread_info {
  __u32 cpu;
};

struct task_struct {
  struct thread_info thread_info;
  int wake_cpu;
  int prio;
  int pid;
  int tgid;
  char comm[16];
};

typedef struct {
  __s64 counter;
} atomic64_t;

struct sock_common {
  atomic64_t skc_cookie;
};

struct sock {
  struct sock_common __sk_common;
};

struct sk_buff {
  unsigned int len;
};

#pragma clang attribute pop

#endif
