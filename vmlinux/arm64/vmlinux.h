/* Kernel types for BPF programs on arm64. See ../README.md. */
#ifndef SJ_VMLINUX_ARM64_H
#define SJ_VMLINUX_ARM64_H

#include "../kernel.h"
#include "../types.h"

/* What user space is promised of struct pt_regs; the kernel's own has more behind it. */
struct user_pt_regs {
  __u64 regs[31];
  __u64 sp;
  __u64 pc;
  __u64 pstate;
};

struct pt_regs {
  struct user_pt_regs user_regs;
};

/* The kernel's own, by name. */
struct pt_regs___kernel {
  __s32 syscallno;
} __attribute__((preserve_access_index));

#endif
