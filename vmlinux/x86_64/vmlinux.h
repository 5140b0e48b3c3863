/* Kernel types for BPF programs on x86-64. See ../README.md. */
#ifndef SJ_VMLINUX_X86_64_H
#define SJ_VMLINUX_X86_64_H

#include "../kernel.h"
#include "../types.h"

/* Registers are addressed by word: the layout has been the same since the first x86-64 kernel. The
 * newest kernels wrap cs and ss in unions of the same size. */
struct pt_regs {
  unsigned long r15, r14, r13, r12, bp, bx;
  unsigned long r11, r10, r9, r8, ax, cx, dx, si, di;
  unsigned long orig_ax, ip, cs, flags, sp, ss;
};

#endif
